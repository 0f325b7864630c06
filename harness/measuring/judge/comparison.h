#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"

namespace zerotax {

// Types and texts for comparing a measurement of an allocator or program with an earlier measurement.

/// The direction of a change. A change to a higher cost is worse. A change in a metric that is no cost is neither
/// better nor worse.
enum class Direction : std::uint8_t { kWorse, kBetter, kNeither };
ENUM_WORDS(Direction, "worse", "better", "neither")
/// The direction as a heading: "changed" means neither.
const char* heading_of(Direction direction);
Direction opposite_of(Direction direction);

/// The verdict of all changes together.
enum class Verdict : std::uint8_t {
  kSame,
  kBetter,   ///< some changes are improvements, none is a regression
  kWorse,    ///< some changes are regressions, none is an improvement
  kMixed,    ///< both improvements and regressions
  kChanged,  ///< changes that are neither better nor worse
  kFailed,   ///< calloc crashes, hangs or breaks its promise, but did not in the baseline
};
ENUM_WORDS(Verdict, "same", "better", "worse", "mixed", "changed", "failed")
inline constexpr const char* kVerdictMeaning =
    "The verdict. same: no change. better: improvements without a regression. worse: regressions without an "
    "improvement. mixed: improvements and regressions. changed: changes that are neither. failed: calloc crashes, "
    "hangs or breaks its promise, but did not in the baseline.";

/// The verdict of several parts. The arguments say whether any part failed, is worse, is better, or changed in neither
/// direction.
Verdict joined_verdict(bool failed, bool worse, bool better, bool changed);

/// The verdict of changes. Each change has a `direction`.
template <typename Changes>
Verdict verdict_of(const Changes& changes, bool failed = false) {
  const auto any = [&](Direction direction) {
    return std::any_of(changes.begin(), changes.end(), [&](const auto& each) { return each.direction == direction; });
  };
  return joined_verdict(failed, any(Direction::kWorse), any(Direction::kBetter), any(Direction::kNeither));
}

/// Whether a check passes: nothing changed, or every change is an improvement. With `strict`, improvements fail, too.
bool passes(Verdict verdict, bool strict);

struct Range {
  RESULT("range", "The range of a count over several measurements.");
  FIELD(std::uint64_t, low, "The lowest value of the count.");
  FIELD(std::uint64_t, high, "The highest value of the count.");
  bool operator==(const Range&) const = default;
  [[nodiscard]] std::uint64_t width() const { return high - low; }
  /// The value in the range that is nearest to `value`.
  [[nodiscard]] std::uint64_t nearest(std::uint64_t value) const { return std::clamp(value, low, high); }
  /// The distance of a value from the range.
  [[nodiscard]] std::uint64_t beyond(std::uint64_t value) const {
    return std::max(value, nearest(value)) - std::min(value, nearest(value));
  }
  void add(std::uint64_t value) { *this = {std::min(low, value), std::max(high, value)}; }
  /// Throws std::invalid_argument for a range whose high end is below its low end.
  void check_fields() const;
};

/// Keeps the changes that a further measurement confirms, and adds the names of the other changes to `gone`. Changes
/// that were not measured again stay.
/// A Change has `times`, name_of(change), and lasts(change, again). `lasts` reduces the change to the part that both
/// measurements show, and returns false if there is no such part.
template <typename Change, typename IsMeasured>
void keep_lasting(std::vector<Change>& changes, const std::vector<Change>& again, std::vector<std::string>& gone,
                  const IsMeasured& is_measured) {
  std::erase_if(changes, [&](Change& change) {
    if (!is_measured(change)) return false;
    ++change.times;
    const auto same =
        std::find_if(again.begin(), again.end(), [&](const Change& each) { return name_of(each) == name_of(change); });
    if (same != again.end() && lasts(change, *same)) return false;
    gone.push_back(name_of(change));
    return true;
  });
}

struct NotCompared {
  RESULT("not compared", "A metric or measurement that was not compared, and the reason.");
  FIELD(std::string, name,
        "A metric, the word 'thresholds', or the measurements that were left out, such as points of other sizes.");
  FIELD(std::string, why, "The reason, such as 'depends on the clock', or 'within the tolerance'.");
};

/// Text for people: for each reason, the number of metrics and measurements that were not compared; with `explain`,
/// their names.
std::string not_compared_text(const std::vector<NotCompared>& all, bool explain);

/// The line with the command that accepts a change; empty if nothing changed.
std::string accept_text(Verdict verdict, const std::string& command);
/// The same line as accept_text, for the formats of other programs.
std::string accept_note(const std::string& command);

/// A condition of measurements: its key in documents, and its name for people.
struct ConditionRow {
  const char* key;
  const char* name;
  double slack = 0;  ///< numbers are alike if they differ by at most this share of the larger number
};

struct ConditionDifference {
  RESULT("condition", "A condition that differs between two measurements, or is unknown in one of them.");
  FIELD(std::string, name, "The condition in words, such as kernel or page size.");
  FIELD(std::string, before,
        "The condition of the baseline, in words; 'unknown' if the baseline's version of zerotax "
        "did not record the condition.");
  FIELD(std::string, after, "The condition of this machine, in words.");
  FIELD(bool, may_explain,
        "Whether the difference could explain a change that was found; false if the condition is unknown.");
  FIELD(std::string, sentence, "The difference in one sentence: 'kernel: 6.1.0 before, 6.18.44 now'.");
};

/// Compares the conditions listed in `rows` between two JSON objects of conditions.
std::vector<ConditionDifference> differing_conditions(const std::vector<ConditionRow>& rows, const Json& before,
                                                      const Json& after);

/// One subject, an allocator or a command, compared with its baseline.
struct CheckedSubject {
  Verdict verdict = Verdict::kSame;
  std::string sentence;
  std::vector<NotCompared> not_compared;
  std::vector<ConditionDifference> conditions;  ///< conditions that differ from those of the baseline
  std::string accept;                           ///< the command that accepts the changes
};

/// Several subjects, each compared with its own baseline.
template <typename Result>
struct CheckedSubjects {
  std::vector<Result> checks;
  bool strict = false;  ///< improvements fail, too
  Verdict verdict = Verdict::kSame;
  std::string sentence;
  bool passed = true;  ///< nothing changed, or every change is an improvement
};

/// The verdict of all subjects together.
template <typename Subjects>
Verdict joined_verdict(const Subjects& subjects) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(subjects.begin(), subjects.end(), [&](const auto& each) { return each.verdict == verdict; });
  };
  const bool mixed = any(Verdict::kMixed);
  return joined_verdict(any(Verdict::kFailed), mixed || any(Verdict::kWorse), mixed || any(Verdict::kBetter),
                        any(Verdict::kChanged));
}

}  // namespace zerotax
