#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/parser.h"

namespace zerotax {

/// "zerotax trace run", as it is called.
std::string called(const CLI::App& command);

/// Whether the command or one of its verbs runs a program: its examples then have words after --.
bool runs_program(const CLI::App& command);

/// The error for a word that a command does not know: an option that it does not have, with the option that was
/// probably meant, or a word too many.
UsageError leftover_error(const CLI::App& command, const std::string& word);

/// The same of a command line that was parsed. Throws std::logic_error if no word is left over.
UsageError leftover_error(const CLI::App& app);

/// --help in 80 columns: an option, then what it does, wrapped beside it, with its default.
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

/// What an option takes, as it stands behind its name: " SIZE", or "[=SIZE]" if it may be left out; empty for a flag.
std::string value_text(const CLI::Option& option);

/// "(default: 60)", or "(without a value: 60)", for an option that shows one; else nothing.
std::string default_text(const CLI::Option& option);

}  // namespace zerotax
