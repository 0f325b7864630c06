#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "bisect/condition.h"
#include "point/metrics.h"
#include "point/plan.h"

namespace zerotax::bisect {

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

}  // namespace zerotax::bisect
