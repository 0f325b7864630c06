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

/// The parts of a sentence of --expect.
struct Condition {
  std::string subject;
  const Comparison* comparison = nullptr;
  std::string value;
};

inline constexpr const char* kExpectForm = "give METRIC OPERATOR VALUE, as in 'zeroed_bytes == 0'";

/// Parses a sentence. Throws UsageError for text that does not have this form.
Condition parse_condition(const std::string& text);

/// Returns the number in a condition's value. If `of_bytes`, the value may be a size such as 4KiB. Throws UsageError
/// for any other word.
double parse_expected(const std::string& value, bool of_bytes);

/// The point at which an expectation is measured, and the range of its thresholds.
struct Place {
  std::string case_name = "calloc_loop";
  std::uint64_t size_bytes = 0;
  double touch = 0;
  std::string thread = "main";
  double timeout_s = 60;
  std::uint64_t last_bytes = 0;  ///< largest size of the search for thresholds; 0: the largest size of a baseline's
                                 ///< range
};

/// The measurement for an expectation.
struct Observed {
  bool known = false;  ///< if false, `value` is the reason why there is no answer
  bool holds = false;
  std::string value;  ///< in words: "zeroed_bytes is 20,971,520"
};

/// A condition that a version meets or fails, such as "zeroed_bytes == 0". The condition begins with one of these
/// subjects:
///
///   METRIC          a deterministic metric of the point (point/metrics.inc); "first.METRIC" is that of the first call
///   METRIC.CALL     number of calls of one system call, such as "free_syscalls.munmap"
///   thresholds      number of sizes at which behavior changes, in the range of a baseline
///   threshold       any of those sizes. With !=, the condition must hold for all of them, otherwise for at least one
///   RULE            number of findings of this rule at the size, such as "redundant-reuse"
///   prove           no promise is broken in the calls of a search with a fixed seed; no operator follows
///
/// An operator follows (== != < <= > >=), and then a number, a size, or a possible word of the metric.
class Expectation {
 public:
  /// Parses a sentence. Throws UsageError for any other text, and for a time, because times differ from run to run.
  static Expectation parse(const std::string& text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Returns whether the expectation depends on the size, touch and thread of a point.
  [[nodiscard]] bool is_of_a_point() const { return subject_ == Subject::kMetric || subject_ == Subject::kFinding; }
  /// Returns the name of the expectation's subject for titles, such as "zeroed_bytes".
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Measures the expectation. Throws Stop.
  [[nodiscard]] Observed observe(const Allocator& allocator, const Place& place) const;

 private:
  enum class Subject : std::uint8_t { kMetric, kThresholds, kThreshold, kFinding, kPromises };
  void take_subject(const std::string& name);
  void take_value(const std::string& value);
  [[nodiscard]] bool is(std::string_view sign) const { return operator_->is(sign); }
  [[nodiscard]] bool compare(double number) const { return operator_->holds(number, number_); }
  [[nodiscard]] Observed observe_metric(const Allocator& allocator, const Place& place) const;
  [[nodiscard]] Observed observe_thresholds(const Allocator& allocator, const Place& place) const;
  [[nodiscard]] Observed observe_finding(const Allocator& allocator, const Place& place) const;

  [[nodiscard]] static Observed observe_promises(const Allocator& allocator);

  std::string text_;
  std::string name_;
  Subject subject_ = Subject::kMetric;
  const Comparison* operator_ = nullptr;
  Metric metric_ = Metric::kZeroedBytes;
  bool first_ = false;
  std::string call_;  ///< name of a system call
  double number_ = 0;
  std::string word_;  ///< expected word of a metric whose values are words
};

/// A condition that a version of a program meets or fails, such as "page_faults <= 2000". The condition begins with a
/// subject:
///
///   METRIC              metric of the command as a whole, by its key (docs/check.md) or its name, with _ for blanks
///   METRIC of NAME      metric of the command's processes with this name
///   NUMBER in FUNCTION  total of the call stacks with this innermost function: calls, requested_bytes,
///                       kernel_zeroed_bytes, refilled_bytes, returned_bytes or zeroed_bytes
///
/// An operator follows (== != < <= > >=), and then a number or a size.
class ProgramExpectation {
 public:
  /// Parses a sentence. Throws UsageError for any other text.
  static ProgramExpectation parse(const std::string& text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Whether the metric needs Target::resident.
  [[nodiscard]] bool is_of_resident() const { return !site_number_ && record::runs::is_of_resident(metric_); }
  /// Returns the answer for a version with these runs. The condition must hold for every value in the ranges of the
  /// runs.
  [[nodiscard]] Observed observe(const baseline::Program& program) const;

 private:
  [[nodiscard]] Measured<Range> range_in(const baseline::Program& program) const;
  [[nodiscard]] Unit unit() const;

  std::string text_;
  std::string name_;  ///< display name of the expectation's subject
  const Comparison* comparison_ = nullptr;
  double number_ = 0;
  record::runs::Metric metric_{};
  std::string process_;
  std::optional<record::runs::SiteNumber> site_number_;
  std::string function_;
};

}  // namespace zerotax::bisect
