#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/parser.h"

namespace zerotax {

/// The command as a user calls it, such as "zerotax trace run".
std::string called(const CLI::App& command);

/// Whether the command or one of its verbs runs a program. The examples of such a command have words after --.
bool runs_program(const CLI::App& command);

/// The error for a word that a command does not know. For an unknown option, the remedy suggests the nearest known
/// option. For any other word, the remedy is to leave the word out.
UsageError leftover_error(const CLI::App& command, const std::string& word);

/// The error for the first leftover word of the parsed command line. Throws std::logic_error if no word is left over.
UsageError leftover_error(const CLI::App& app);

/// Formats --help in 80 columns. Each option is followed by its wrapped description and its default.
class HelpFormat : public CLI::Formatter {
 public:
  /// Lists common options by name only.
  [[nodiscard]] std::string make_group(std::string group, bool positional,
                                       std::vector<const CLI::Option*> options) const override;
  std::string make_option(const CLI::Option* option, bool positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_footer(const CLI::App* app) const override;
};

/// The value of an option, as --help shows it after the name: " SIZE", or "[=SIZE]" if the value may be left out; empty
/// for a flag.
std::string value_text(const CLI::Option& option);

/// "(default: 60)" or "(without a value: 60)" for an option that shows a value; otherwise empty.
std::string default_text(const CLI::Option& option);

}  // namespace zerotax
