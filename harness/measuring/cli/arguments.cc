#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/complete_values.h"
#include "cli/former_names.h"
#include "cli/leftover.h"
#include "cli/number_checks.h"
#include "cli/parser.h"
#include "files/output_kind.h"

namespace zerotax {
namespace {

CLI::Validator not_empty(const char* remedy) {
  return {[remedy](std::string& word) { return word.empty() ? std::string(remedy) : std::string(); }, ""};
}

/// What one word on the command line becomes.
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

Argument& Argument::in_range(double low, double high) {
  const auto check = [low, high](std::string& word) {
    double number = 0;
    const bool is_in = CLI::detail::lexical_cast(word, number) && number >= low && number <= high;
    return is_in ? std::string() : fmt::format("invalid value '{}' (give {:g} to {:g})", word, low, high);
  };
  option_->check(CLI::Validator(check, ""));
  return *this;
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
    // A word that is not a number gets an error of its own.
    if (!CLI::detail::lexical_cast(word, number) || (number > 0 && number <= kDay)) return;
    throw UsageError(fmt::format("invalid {} {}", name, word), "give seconds, more than 0 and at most 86400");
  });
}

Argument& Argument::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Argument& Argument::hidden() {
  option_->group("");
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
  return Argument(option);
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
template Argument Arguments::option(const std::string&, std::vector<std::string>&, const std::string&);
template Argument Arguments::option(const std::string&, std::vector<double>&, const std::string&);
template Argument Arguments::option(const std::string&, std::vector<int>&, const std::string&);

Argument Arguments::flag(const std::string& name, bool& value, const std::string& description) {
  return Argument(app_->add_flag(name, value, description));
}

Argument Arguments::find(const std::string& name) const { return Argument(app_->get_option(name)); }

Arguments Arguments::verb(const std::string& name, const std::string& description, const std::string& examples) {
  CLI::App* verb = app_->add_subcommand(name, description);
  verb->footer(examples.empty() ? "" : "Examples:\n" + examples);
  return Arguments(*verb);
}

bool Arguments::given() const { return app_->parsed(); }

std::string Arguments::name() const { return app_->get_name(); }

void Arguments::keep_leftover() { app_->allow_extras(); }

void Arguments::refuse_leftover() const {
  const std::vector<std::string> left = app_->remaining();
  if (!left.empty()) throw leftover_error(*app_, left.front());
}

void Arguments::refuse_measuring(const std::vector<std::string>& allowed) const {
  if (!find("--read").given()) return;
  for (const CLI::Option* each : app_->get_options([](const CLI::Option* option) { return option->count() > 0; })) {
    const std::string name = each->get_name();
    if (name == "--read" || name == "--plot" || name == "--color" || name == "--force" || is_output_option(name) ||
        std::find(allowed.begin(), allowed.end(), name) != allowed.end()) {
      continue;
    }
    throw UsageError("--read measures nothing", "leave out " + name);
  }
}

void Arguments::formerly(const std::string& former, const std::string& now) { add_former_name(*app_, former, now); }

}  // namespace zerotax
