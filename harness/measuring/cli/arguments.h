#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {

class App;
class Option;

}  // namespace CLI

namespace zerotax {

/// Returns the values that a shell may offer for an option.
using ValueList = std::function<std::vector<std::string>()>;

/// The message for a refused combination of options. {0} is the option that has the rule, {1} the other option.
struct Refusal {
  std::string problem;
  std::string remedy;
};

/// One option or positional argument of a command. An Argument is a handle, so a copy refers to the same option.
class Argument {
 public:
  Argument(CLI::App* app, CLI::Option* option) : app_(app), option_(option) {}

  Argument& required();
  /// Lets the option be given several times, each time with one value.
  Argument& repeatable();
  /// Lets the option be given without a value: "--name" then means "--name=otherwise".
  Argument& value_optional(const std::string& otherwise);
  /// Shows the variable's current value in --help, as the default.
  Argument& with_default();
  /// Expects a path of a file or folder, and refuses an empty word. Otherwise, an unset shell variable would have the
  /// same effect as leaving out the option.
  Argument& path();
  /// Refuses an empty word.
  Argument& word();
  Argument& one_of(const std::vector<std::string>& words);
  /// Sets the word that --help shows in place of the value, such as "SIZE".
  Argument& shown_as(const std::string& value);
  /// Throws UsageError for a number out of range, such as "invalid --hz 0: give 1 to 20000 samples a second".
  Argument& in_range(double low, double high, const std::string& unit = "");
  /// Throws UsageError for a size out of range. The value is written as in 64KiB; `unit` follows the range in the
  /// message.
  Argument& size_in(std::uint64_t low, std::uint64_t high, const std::string& unit = "");
  /// Refuses each word for which `check` throws UsageError.
  Argument& checked_by(std::function<void(const std::string&)> check);
  /// Expects a duration in seconds, more than zero and at most a day.
  Argument& seconds();
  /// Requires a number above zero.
  Argument& positive();
  /// Requires at least one of `others`. Each is an option ("--pid"), an option with a value ("--on=slurm"), or "--" (a
  /// command to run).
  Argument& needs(const std::vector<std::string>& others,
                  const Refusal& refusal = {"{0} has no effect without {1}", "add {1}, or leave out {0}"});
  Argument& excludes(const std::vector<std::string>& others,
                     const Refusal& refusal = {"{0} and {1} cannot be given together", "leave one of them out"});
  /// Excludes a command, and all options except `allowed` and the options that only affect how or where the result is
  /// shown.
  Argument& alone(const std::vector<std::string>& allowed, const Refusal& refusal);
  /// Leaves the option out of --help, the manual page and completion.
  Argument& hidden();
  /// Makes --help of a command show only the option's name. The option is the same in all commands, so `zerotax help
  /// options` explains it.
  Argument& common();
  /// Sets the values that a shell offers, for an argument that is not a file.
  Argument& completed_by(ValueList values);

  /// Whether the argument was on the command line.
  [[nodiscard]] bool given() const;
  /// The argument's name, such as "--size".
  [[nodiscard]] std::string name() const;

 private:
  CLI::App* app_;
  CLI::Option* option_;
};

/// The options of one command. Commands use this class instead of the argument parser, whose header would add seven
/// seconds to the compilation of each file.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(&app) {}

  /// Adds an option of a type that arguments.cc lists; a vector takes several values. `name` is "--name" or
  /// "-n,--name", or "name" for a positional argument.
  template <typename T>
  Argument option(const std::string& name, T& value, const std::string& description);
  Argument flag(const std::string& name, bool& value, const std::string& description);
  /// Returns an option that was added before.
  [[nodiscard]] Argument find(const std::string& name) const;

  /// Adds a verb to this command, as in `zerotax trace list`. Exactly one of a command's verbs must be given.
  Arguments verb(const std::string& name, const std::string& description, const std::string& examples = "");
  /// Whether this command or verb was given.
  [[nodiscard]] bool given() const;
  [[nodiscard]] std::string name() const;

  /// Requires exactly one of `names`, written as for Argument::needs. `none` is the message if none of them is given.
  void exactly_one(const std::vector<std::string>& names, const Refusal& none);
  /// Throws UsageError if the command line breaks a rule of needs(), excludes(), alone() or exactly_one().
  void check_rules() const;

  /// The parser's object, for the files of cli/ only.
  [[nodiscard]] CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

/// Runs main for a program without subcommands, such as a benchmark. `add` declares the options; `run` does the work
/// and returns the exit status. Prints an error of the command line or of the work on one line that begins with the
/// program's name. Returns the program's exit status.
int standalone_main(const std::string& name, const std::string& description, int argc, char** argv,
                    const std::function<void(Arguments)>& add, const std::function<int()>& run);

}  // namespace zerotax
