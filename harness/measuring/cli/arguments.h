#pragma once

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

/// One option or positional argument of a command. A handle: copies mean the same option.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}

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
  Argument& in_range(double low, double high);
  /// Accepts any word for which the function throws no UsageError.
  Argument& checked_by(std::function<void(const std::string&)> check);
  /// A duration in seconds: more than zero, and at most a day.
  Argument& seconds();
  /// Requires a number above zero.
  Argument& positive();
  /// Not in --help, the manual page or completion.
  Argument& hidden();
  /// The values that a shell offers, if the argument is not a file.
  Argument& completed_by(ValueList values);

  /// Whether it was on the command line.
  [[nodiscard]] bool given() const;
  /// "--size".
  [[nodiscard]] std::string name() const;

 private:
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
  /// A name that an option had in an earlier version: still taken, and not shown.
  void formerly(const std::string& former, const std::string& now);
  /// One that was added before.
  [[nodiscard]] Argument find(const std::string& name) const;

  /// A verb of this command, as in `zerotax trace list`. Exactly one of a command's verbs must be given.
  Arguments verb(const std::string& name, const std::string& description, const std::string& examples = "");
  /// Whether this command or verb is the one that was given.
  [[nodiscard]] bool given() const;
  [[nodiscard]] std::string name() const;

  /// Words that are not options of the command are refuse_leftover()'s, which has a clearer message than the parser.
  void keep_leftover();
  /// Throws UsageError if there are any: of a command that runs a program, whose words stand after --.
  void refuse_leftover() const;

  /// Throws UsageError if --read is given with an option that is about measuring: another than these, and those that
  /// say where and how the result is shown.
  void refuse_measuring(const std::vector<std::string>& allowed = {}) const;

  /// For cli/ itself.
  [[nodiscard]] CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace zerotax
