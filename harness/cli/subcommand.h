#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/arguments.h"

namespace zerotax {

/// A subcommand of `zerotax`: one static object of this kind in <room>/command.cc.
class Subcommand {
 public:
  /// Adds options to `arguments` and returns what is to be done once they are parsed.
  using Configure = std::function<ExitStatus()> (*)(Arguments& arguments);
  /// An empty `summary` hides it from --help.
  Subcommand(const char* name, const char* summary, const char* examples, Configure configure);

  /// Adds every subcommand to `app`; the one that was named is run by its callback, which stores its status in
  /// `status`.
  static void add_all(CLI::App& app, ExitStatus& status);

  /// Throws UsageError if the first word of the command line is no option and no subcommand, or --version with more;
  /// and if the command has verbs (`zerotax trace run`) and the second word is none of them.
  static void check_first_word(const CLI::App& app);

  /// The words of the command line, for run.json.
  static std::vector<std::string> command_line;

  /// How many of them are ours to parse: all before the first "--".
  static int own_words();
  /// Those behind it, as they are: a program to run and its arguments.
  static std::vector<std::string> program_words();
};

}  // namespace zerotax
