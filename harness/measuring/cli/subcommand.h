#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/arguments.h"

namespace zerotax {

/// The wing of harness/ that has the command. Wings are the groups of --help, in the order of README's table.
enum class Wing : std::uint8_t { kAllocator, kProgram, kRegression, kKernel, kMeasuring };

/// A subcommand of `zerotax`: one static object of this kind in <wing>/<room>/command.cc.
class Subcommand {
 public:
  /// Adds options to `arguments` and returns what to do once they are parsed.
  using Configure = std::function<ExitStatus()> (*)(Arguments& arguments);
  /// An empty `summary` hides it from --help.
  Subcommand(const char* name, Wing wing, const char* summary, const char* examples, Configure configure);

  /// Adds every subcommand to `app`, with options if `command_line` names it or "help"; the callback of the one that
  /// was named runs it and stores its status in `status`.
  static void add_all(CLI::App& app, ExitStatus& status);

  /// Throws UsageError if the first word of the command line is neither an option nor a subcommand, or is --version and
  /// more words follow; or if the command has verbs (`zerotax trace run`) and the second word is not one of them.
  static void check_first_word(const CLI::App& app);

  /// The words of the command line, for run.json.
  static std::vector<std::string> command_line;

  /// The words that zerotax parses: those before the first "--", without zerotax's own name.
  static std::vector<std::string> own_words();
  /// The command that was named, as `zerotax trace run --help` asks about it: "zerotax trace run", or "zerotax".
  static std::string named_command(const CLI::App& app);
  /// Those after it, unchanged: a program to run and its arguments.
  static std::vector<std::string> program_words();
};

}  // namespace zerotax
