#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "base/units.h"
#include "cli/complete.h"
#include "cli/parser.h"
#include "cli/subcommand.h"
#include "files/output_kind.h"
#include "os/print.h"

namespace zerotax {
namespace {

template <typename T>
bool is_number(const std::string& word) {
  T value{};
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  return failure == std::errc() && end == word.data() + word.size();
}

/// Some programs read a number with a leading zero in base 8.
bool has_leading_zero(const std::string& word) {
  const std::size_t first = word.starts_with('-') ? 1 : 0;
  return word.size() > first + 1 && word[first] == '0' && word[first + 1] >= '0' && word[first + 1] <= '9';
}

template <typename T>
CLI::Validator decimal(const char* what) {
  const auto check = [what](std::string& word) {
    if (is_number<T>(word) && !has_leading_zero(word)) return std::string();
    return fmt::format("'{}' is not {}", word, what);
  };
  return {check, ""};
}

/// Makes a numeric option accept only plain decimal numbers, because the parser would read 0x10 as 16 and 010 as 8.
/// in_range() or the command refuses nan and numbers out of range.
void add_number_check(CLI::Option& option, bool whole) {
  if (whole) {
    option.check(decimal<std::int64_t>("a whole decimal number in range"));
  } else {
    option.check(decimal<double>("a decimal number"));
  }
}

CLI::Validator not_empty(const char* remedy) {
  return {[remedy](std::string& word) { return word.empty() ? std::string(remedy) : std::string(); }, ""};
}

/// The type of a single value, for an option whose variable is a std::optional or a vector.
template <typename T>
struct OfValue {
  using Type = T;
};
template <typename T>
struct OfValue<std::optional<T>> {
  using Type = T;
};
template <typename T>
struct OfValue<std::vector<T>> {
  using Type = T;
};

using Rule = std::function<void()>;

std::vector<Rule>& rules_of(const CLI::App* app) {
  static std::map<const CLI::App*, std::vector<Rule>> all;
  return all[app];
}

bool is_given(const CLI::App& app, const std::string& other) {
  if (other == "--") return !Subcommand::program_words().empty();
  const auto equals = other.find('=');
  const CLI::Option* option = app.get_option(other.substr(0, equals));
  if (option->count() == 0) return false;
  if (equals == std::string::npos) return true;
  const auto value = option->as<std::string>();
  return value.substr(0, value.find(',')) == other.substr(equals + 1);
}

/// The name as a message shows it, such as "a command" for "--", and "--on slurm" for "--on=slurm".
std::string shown(std::string name) {
  if (name == "--") return "a command";
  std::replace(name.begin(), name.end(), '=', ' ');
  return name;
}

/// The names as a message shows them, such as "--pid, --cgroup or --all".
std::string shown(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + shown(names[i]);
  }
  return text;
}

UsageError refused(const Refusal& refusal, const std::string& name, const std::string& other) {
  return {fmt::format(fmt::runtime(refusal.problem), name, other),
          fmt::format(fmt::runtime(refusal.remedy), name, other)};
}

/// Whether an option only affects how or where the result is shown.
bool is_of_presentation(const std::string& name) {
  return name == "--plot" || name == "--color" || name == "--full" || name == "--force" || is_output_option(name);
}

}  // namespace

Argument& Argument::required() {
  option_->required();
  return *this;
}

Argument& Argument::repeatable() {
  option_->allow_extra_args(false);
  return *this;
}

Argument& Argument::value_optional(const std::string& otherwise) {
  option_->expected(0, 1);
  option_->default_str(otherwise);
  return *this;
}

Argument& Argument::with_default() {
  option_->capture_default_str();
  return *this;
}

Argument& Argument::path() {
  option_->type_name("PATH")->check(not_empty("is empty: give a path"));
  return *this;
}

Argument& Argument::word() {
  option_->check(not_empty("is empty"));
  return *this;
}

Argument& Argument::one_of(const std::vector<std::string>& words) {
  const auto check = [words](std::string& word) {
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
    return fmt::format("'{}': {}{}", word, did_you_mean(word, words), choices_text(words));
  };
  option_->check(CLI::Validator(check, fmt::format("{{{}}}", fmt::join(words, ","))));
  return *this;
}

Argument& Argument::shown_as(const std::string& value) {
  option_->type_name(value);
  return *this;
}

Argument& Argument::in_range(double low, double high, const std::string& unit) {
  return this->word().checked_by([=, name = name()](const std::string& word) {
    double number = 0;
    // The number check reports a word that is not a number.
    if (!CLI::detail::lexical_cast(word, number) || (number >= low && number <= high)) return;
    throw UsageError(fmt::format("invalid {} {}", name, word),
                     fmt::format("give {:.15g} to {:.15g}{}{}", low, high, unit.empty() ? "" : " ", unit));
  });
}

Argument& Argument::size_in(std::uint64_t low, std::uint64_t high, const std::string& unit) {
  return this->word().checked_by([=, name = name()](const std::string& word) {
    if (const std::uint64_t bytes = parse_size(word); bytes >= low && bytes <= high) return;
    throw UsageError(fmt::format("invalid {} '{}'", name, word),
                     fmt::format("give {} to {}{}", size_word(low), size_word(high), unit.empty() ? "" : ", " + unit));
  });
}

Argument& Argument::checked_by(std::function<void(const std::string&)> check) {
  const auto checked = [check = std::move(check)](std::string& word) {
    check(word);
    return std::string();
  };
  option_->check(CLI::Validator(checked, ""));
  return *this;
}

Argument& Argument::seconds() {
  constexpr double kDay = 86'400;
  return checked_by([name = name()](const std::string& word) {
    double number = 0;
    // The number check reports a word that is not a number.
    if (!CLI::detail::lexical_cast(word, number) || (number > 0 && number <= kDay)) return;
    throw UsageError(fmt::format("invalid {} {}", name, word), "give seconds, more than 0 and at most 86400");
  });
}

Argument& Argument::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Argument& Argument::needs(const std::vector<std::string>& others, const Refusal& refusal) {
  rules_of(app_).emplace_back([=, *this] {
    const auto there = [&](const std::string& other) { return is_given(*app_, other); };
    if (given() && std::none_of(others.begin(), others.end(), there)) throw refused(refusal, name(), shown(others));
  });
  return *this;
}

Argument& Argument::excludes(const std::vector<std::string>& others, const Refusal& refusal) {
  rules_of(app_).emplace_back([=, *this] {
    if (!given()) return;
    for (const std::string& other : others) {
      if (is_given(*app_, other)) throw refused(refusal, name(), shown(other));
    }
  });
  return *this;
}

Argument& Argument::alone(const std::vector<std::string>& allowed, const Refusal& refusal) {
  rules_of(app_).emplace_back([=, *this] {
    if (!given()) return;
    for (const CLI::Option* each : app_->get_options([](const CLI::Option* option) { return option->count() > 0; })) {
      const std::string other = each->get_name();
      if (each == option_ || is_of_presentation(other) ||
          std::find(allowed.begin(), allowed.end(), other) != allowed.end()) {
        continue;
      }
      throw refused(refusal, name(), other);
    }
    if (is_given(*app_, "--")) throw refused(refusal, name(), "the command");
  });
  return *this;
}

Argument& Argument::hidden() {
  option_->group("");
  return *this;
}

Argument& Argument::common() {
  option_->group(kCommonGroup);
  return *this;
}

Argument& Argument::completed_by(ValueList values) {
  set_known_values(*option_, std::move(values));
  return *this;
}

bool Argument::given() const { return option_->count() > 0; }

std::string Argument::name() const { return option_->get_name(); }

template <typename T>
Argument Arguments::option(const std::string& name, T& value, const std::string& description) {
  CLI::Option* option = app_->add_option(name, value, description);
  using Value = typename OfValue<T>::Type;
  if constexpr (std::is_arithmetic_v<Value>) add_number_check(*option, std::is_integral_v<Value>);
  return {app_, option};
}

template Argument Arguments::option(const std::string&, std::string&, const std::string&);
template Argument Arguments::option(const std::string&, double&, const std::string&);
template Argument Arguments::option(const std::string&, int&, const std::string&);
template Argument Arguments::option(const std::string&, unsigned&, const std::string&);
template Argument Arguments::option(const std::string&, std::int64_t&, const std::string&);
template Argument Arguments::option(const std::string&, std::uint64_t&, const std::string&);
template Argument Arguments::option(const std::string&, std::optional<int>&, const std::string&);
template Argument Arguments::option(const std::string&, std::optional<double>&, const std::string&);
template Argument Arguments::option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Argument Arguments::option(const std::string&, std::optional<std::string>&, const std::string&);
template Argument Arguments::option(const std::string&, std::vector<std::string>&, const std::string&);
template Argument Arguments::option(const std::string&, std::vector<double>&, const std::string&);
template Argument Arguments::option(const std::string&, std::vector<int>&, const std::string&);

Argument Arguments::flag(const std::string& name, bool& value, const std::string& description) {
  return {app_, app_->add_flag(name, value, description)};
}

Argument Arguments::find(const std::string& name) const { return {app_, app_->get_option(name)}; }

Arguments Arguments::verb(const std::string& name, const std::string& description, const std::string& examples) {
  CLI::App* verb = app_->add_subcommand(name, description);
  verb->footer(examples.empty() ? "" : "Examples:\n" + examples);
  return Arguments(*verb);
}

bool Arguments::given() const { return app_->parsed(); }

std::string Arguments::name() const { return app_->get_name(); }

void Arguments::exactly_one(const std::vector<std::string>& names, const Refusal& none) {
  rules_of(app_).emplace_back([=, *this] {
    std::vector<std::string> there;
    for (const std::string& name : names) {
      if (is_given(*app_, name)) there.push_back(shown(name));
    }
    if (there.empty()) throw UsageError(none.problem, none.remedy);
    if (there.size() == 1) return;
    throw UsageError(fmt::format("both {} and {} are given", there[0], there[1]), "leave one of them out");
  });
}

void Arguments::check_rules() const {
  for (const Rule& rule : rules_of(app_)) rule();
  for (CLI::App* verb : app_->get_subcommands()) Arguments(*verb).check_rules();
}

int standalone_main(const std::string& name, const std::string& description, int argc, char** argv,
                    const std::function<void(Arguments)>& add, const std::function<int()>& run) {
  CLI::App app{description, name};
  add(Arguments(app));
  try {
    app.parse(argc, argv);
    return run();
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& failure) {
    print_text(stderr, "{}: {}: see `{} --help`\n", name, failure.what(), name);
    return static_cast<int>(ExitStatus::kUsage);
  } catch (const Error& failure) {
    print_text(stderr, "{}: {}: {}\n", name, failure.what(), failure.remedy());
    return static_cast<int>(failure.status());
  }
}

}  // namespace zerotax
