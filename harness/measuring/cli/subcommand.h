#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/arguments.h"

namespace zerotax {

/// The wing of harness/ that contains the command. Wings are the groups of --help, in the order of README's table.
enum class Wing : std::uint8_t { kAllocator, kProgram, kRegression, kKernel, kMeasuring };

/// A subcommand of `zerotax`. Each <wing>/<room>/command.cc has one static object of this class.
class Subcommand {
 public:
  /// Adds options to `arguments` and returns the function to call once they are parsed.
  using Configure = std::function<ExitStatus()> (*)(Arguments& arguments);
  /// An empty `summary` hides the command from --help.
  Subcommand(const char* name, Wing wing, const char* summary, const char* examples, Configure configure);

  /// Adds every subcommand to `app`. A subcommand has options only if `command_line` names it or "help". The callback
  /// of the named subcommand runs the subcommand and stores its exit status in `status`.
  static void add_all(CLI::App& app, ExitStatus& status);

  /// Throws UsageError if the first word is neither an option nor a subcommand, or if words follow --version. For a
  /// command with verbs (`zerotax trace run`), also throws UsageError if the second word is not a verb.
  static void check_first_word(const CLI::App& app);

  /// The words of the command line, for run.json.
  static std::vector<std::string> command_line;

  /// The words that zerotax parses: those before the first "--", without zerotax's own name.
  static std::vector<std::string> own_words();
  /// The command as named on the command line, such as "zerotax trace run"; "zerotax" if there is none.
  static std::string named_command(const CLI::App& app);
  /// The words after the first "--", unchanged: a program to run and its arguments.
  static std::vector<std::string> program_words();
};

}  // namespace zerotax
