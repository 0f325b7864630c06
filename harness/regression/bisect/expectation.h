#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "baseline/program.h"
#include "point/metrics.h"
#include "point/plan.h"

namespace zerotax::bisect {

/// A comparison with a number: one of == != < <= > >=.
struct Comparison {
  std::string_view sign;
  bool (*holds)(double one, double other);

  [[nodiscard]] bool is(std::string_view other) const { return sign == other; }
};

/// A sentence of --expect, taken apart.
struct Condition {
  std::string subject;
  const Comparison* comparison = nullptr;
  std::string value;
};

inline constexpr const char* kExpectForm = "give METRIC OPERATOR VALUE, as in 'zeroed_bytes == 0'";

/// Throws UsageError for a text that is not of this form.
Condition parse_condition(const std::string& text);

/// The number of a condition's value; a size, as in 4KiB, where it is `of_bytes`. Throws UsageError for any other word.
double parse_expected(const std::string& value, bool of_bytes);

/// Where an expectation is measured.
struct Place {
  std::string case_name = "calloc_loop";
  std::uint64_t size_bytes = 0;
  double touch = 0;
  std::string thread = "main";
  double timeout_s = 60;
  std::uint64_t last_bytes = 0;  ///< to which thresholds are searched; 0: all of a baseline's range
};

/// What was measured of an expectation.
struct Observed {
  bool known = false;  ///< otherwise `value` says why not
  bool holds = false;
  std::string value;  ///< for people: "zeroed_bytes is 20,971,520"
};

/// A sentence that is true or false of a version: "zeroed_bytes == 0".
///
///   METRIC          a deterministic metric of the point (point/metrics.inc); "first.METRIC" of the first call alone
///   METRIC.CALL     how often a system call is made: "free_syscalls.munmap"
///   thresholds      how many sizes there are at which behaviour changes, in the range of a baseline
///   threshold       one of those sizes: with !=, none of them; with any other operator, at least one
///   RULE            how many findings of this rule there are at the size ("redundant-reuse")
///
/// Then one of == != < <= > >= and a number, a size, or a word that the metric can be.
class Expectation {
 public:
  /// Throws UsageError for any other text, and for a time: times differ from run to run.
  static Expectation parse(const std::string& text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Whether it depends on the size, touch and thread of a point.
  [[nodiscard]] bool is_of_a_point() const {
    return subject_ != Subject::kThresholds && subject_ != Subject::kThreshold;
  }
  /// The name of its subject, for titles: "zeroed_bytes".
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Measures it. Throws Stop.
  [[nodiscard]] Observed observe(const Allocator& allocator, const Place& place) const;

 private:
  enum class Subject : std::uint8_t { kMetric, kThresholds, kThreshold, kFinding };
  void take_subject(const std::string& name);
  void take_value(const std::string& value);
  [[nodiscard]] bool is(std::string_view sign) const { return operator_->is(sign); }
  [[nodiscard]] bool compare(double number) const { return operator_->holds(number, number_); }
  [[nodiscard]] Observed observe_metric(const Allocator& allocator, const Place& place) const;
  [[nodiscard]] Observed observe_thresholds(const Allocator& allocator, const Place& place) const;
  [[nodiscard]] Observed observe_finding(const Allocator& allocator, const Place& place) const;

  std::string text_;
  std::string name_;
  Subject subject_ = Subject::kMetric;
  const Comparison* operator_ = nullptr;
  Metric metric_ = Metric::kZeroedBytes;
  bool first_ = false;
  std::string call_;  ///< of system calls
  double number_ = 0;
  std::string word_;  ///< of a metric that is a word
};

/// A sentence that is true or false of a version of a program: "page_faults <= 2000".
///
///   METRIC              of the command as a whole, by its key (docs/check_program.md) or its name, with _ for blanks
///   METRIC of NAME      of its processes of this name
///   NUMBER in FUNCTION  of the call stacks whose innermost function this is: calls, requested_bytes,
///                       kernel_zeroed_bytes, refilled_bytes, returned_bytes or zeroed_bytes
///
/// Then one of == != < <= > >= and a number or a size.
class ProgramExpectation {
 public:
  /// Throws UsageError for any other text.
  static ProgramExpectation parse(const std::string& text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// What is true of a version whose runs are these: of every value that they showed.
  [[nodiscard]] Observed observe(const baseline::Program& program) const;

 private:
  [[nodiscard]] Measured<Range> range_in(const baseline::Program& program) const;
  [[nodiscard]] Unit unit() const;

  std::string text_;
  std::string name_;  ///< of its subject, for people
  const Comparison* comparison_ = nullptr;
  double number_ = 0;
  record::runs::Metric metric_{};
  std::string process_;
  std::optional<record::runs::SiteNumber> site_number_;
  std::string function_;
};

}  // namespace zerotax::bisect
