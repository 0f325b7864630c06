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

/// The values that a shell may offer for an option.
using ValueList = std::function<std::vector<std::string>()>;

/// The message for a refused combination of options: {0} is the option with the rule, {1} the other option.
struct Refusal {
  std::string problem;
  std::string remedy;
};

/// One option or positional argument of a command. A handle: copies mean the same option.
class Argument {
 public:
  Argument(CLI::App* app, CLI::Option* option) : app_(app), option_(option) {}

  Argument& required();
  /// Given several times, each time with one value.
  Argument& repeatable();
  /// It may be given without a value, "--name" for "--name=otherwise".
  Argument& value_optional(const std::string& otherwise);
  /// --help shows the value that the variable has now.
  Argument& with_default();
  /// A file or a folder. Refuses an empty word: an unset variable would otherwise silently mean that the option
  /// was not given.
  Argument& path();
  /// Any word but an empty one.
  Argument& word();
  Argument& one_of(const std::vector<std::string>& words);
  /// What --help calls its value: "SIZE".
  Argument& shown_as(const std::string& value);
  /// Throws UsageError for a number outside of the range: "invalid --hz 0: give 1 to 20000 samples a second".
  Argument& in_range(double low, double high, const std::string& unit = "");
  /// The same for a word of bytes, as in 64KiB; `unit` follows the range in the message.
  Argument& size_in(std::uint64_t low, std::uint64_t high, const std::string& unit = "");
  /// Accepts any word for which the function throws no UsageError.
  Argument& checked_by(std::function<void(const std::string&)> check);
  /// A duration in seconds: more than zero, and at most a day.
  Argument& seconds();
  /// Requires a number above zero.
  Argument& positive();
  /// Requires at least one of the others: "--pid", "--on=slurm" (--on with that value), or "--" (a command to run).
  Argument& needs(const std::vector<std::string>& others,
                  const Refusal& refusal = {"{0} has no effect without {1}", "add {1}, or leave out {0}"});
  Argument& excludes(const std::vector<std::string>& others,
                     const Refusal& refusal = {"{0} and {1} cannot be given together", "leave one of them out"});
  /// Excludes a command, and all options except `allowed` and those that decide how and where the result is shown.
  Argument& alone(const std::vector<std::string>& allowed, const Refusal& refusal);
  /// Not in --help, the manual page or completion.
  Argument& hidden();
  /// --help of a command only names the option. It is the same in all commands, so `zerotax help options` explains it.
  Argument& common();
  /// The values that a shell offers, if the argument is not a file.
  Argument& completed_by(ValueList values);

  /// Whether it was on the command line.
  [[nodiscard]] bool given() const;
  /// "--size".
  [[nodiscard]] std::string name() const;

 private:
  CLI::App* app_;
  CLI::Option* option_;
};

/// The options of one command. This file and arguments.cc stand between the features and the argument parser, whose
/// header costs each file that includes it seven seconds of compiling.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(&app) {}

  /// A value of a type that arguments.cc lists; a vector takes several. "--name", "-n,--name", or "name" of a
  /// positional argument.
  template <typename T>
  Argument option(const std::string& name, T& value, const std::string& description);
  Argument flag(const std::string& name, bool& value, const std::string& description);
  /// One that was added before.
  [[nodiscard]] Argument find(const std::string& name) const;

  /// A verb of this command, as in `zerotax trace list`. Exactly one of a command's verbs must be given.
  Arguments verb(const std::string& name, const std::string& description, const std::string& examples = "");
  /// Whether this command or verb is the one that was given.
  [[nodiscard]] bool given() const;
  [[nodiscard]] std::string name() const;

  /// Requires exactly one of `names` (in the form of Argument::needs). `none` is the message if none of them is given.
  void exactly_one(const std::vector<std::string>& names, const Refusal& none);
  /// Throws UsageError if the command line breaks a rule of needs(), excludes(), alone() or exactly_one().
  void check_rules() const;

  /// For cli/ itself.
  [[nodiscard]] CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace zerotax
