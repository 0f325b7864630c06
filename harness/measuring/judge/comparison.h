#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace zerotax {

// The words of every comparison of a measurement with an earlier one, whether of an allocator or of a program.

/// The direction of a change. More of a cost is worse; a metric that only describes is neither.
enum class Direction : std::uint8_t { kWorse, kBetter, kNeither };
/// "worse", "better", "neither".
const char* word_of(Direction direction);
/// The same, with "changed" for neither.
const char* heading_of(Direction direction);
Direction opposite_of(Direction direction);

/// The verdict of all changes together.
enum class Verdict : std::uint8_t {
  kSame,
  kBetter,   ///< some changes are for the better, none for the worse
  kWorse,    ///< some are for the worse, none for the better
  kMixed,    ///< both
  kChanged,  ///< neither better nor worse
  kFailed,   ///< calloc crashes, hangs or breaks its promise, and did not in the baseline
};
/// "same", "better", "worse", "mixed", "changed", "failed".
const char* word_of(Verdict verdict);

/// The verdict of several parts: whether any part failed, is worse, is better, or changed without being either.
Verdict joined_verdict(bool failed, bool worse, bool better, bool changed);

/// The verdict of changes, each with a `direction`.
template <typename Changes>
Verdict verdict_of(const Changes& changes, bool failed = false) {
  const auto any = [&](Direction direction) {
    return std::any_of(changes.begin(), changes.end(), [&](const auto& each) { return each.direction == direction; });
  };
  return joined_verdict(failed, any(Direction::kWorse), any(Direction::kBetter), any(Direction::kNeither));
}

/// Whether a check passes: nothing changed, or for the better alone. `strict`: improvements fail, too.
bool passes(Verdict verdict, bool strict);

/// The range of a count over several measurements.
struct Range {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Range&) const = default;
  [[nodiscard]] std::uint64_t width() const { return high - low; }
  /// The value in the range that is nearest to another value.
  [[nodiscard]] std::uint64_t nearest(std::uint64_t value) const { return std::clamp(value, low, high); }
  /// The distance of a value from the range.
  [[nodiscard]] std::uint64_t beyond(std::uint64_t value) const {
    return std::max(value, nearest(value)) - std::min(value, nearest(value));
  }
  void add(std::uint64_t value) { *this = {std::min(low, value), std::max(high, value)}; }
};
void to_json(Json& json, const Range& value);
/// Throws std::invalid_argument for a range whose high end is below its low end.
void from_json(const Json& json, Range& value);

/// Keeps the changes that a further measurement shows as well, and names the others in `gone`. Changes that were not
/// measured again stay. A Change has `times`, name_of(change), and lasts(change, again). The latter reduces the change
/// to the part that both measurements show, and returns false if there is no such part.
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

/// Something that was not compared, and why: a metric, "thresholds", "points of other sizes".
struct NotCompared {
  std::string name;
  std::string why;  ///< "depends on the clock", "within the tolerance", "left out by --only"
};

void to_json(Json& json, Direction direction);
void from_json(const Json& json, Direction& direction);
void to_json(Json& json, Verdict verdict);
void to_json(Json& json, const NotCompared& value);

/// For people: the number of things that were not compared, for each reason; each of them with `explain`.
std::string not_compared_text(const std::vector<NotCompared>& all, bool explain);

/// The line that offers the command which accepts a change; empty if nothing changed.
std::string accept_text(Verdict verdict, const std::string& command);
/// The same offer in the formats of other programs.
std::string accept_note(const std::string& command);

/// A condition of measurements: its key in documents, and its name for people.
struct ConditionRow {
  const char* key;
  const char* name;
  double slack = 0;  ///< numbers that differ by at most this share of the larger one are alike
};

/// A condition that is not the same in two measurements, or unknown in one of them.
struct ConditionDifference {
  std::string name;
  std::string before;  ///< in words; "unknown" if the measurement lacks it
  std::string after;
  bool may_explain = false;  ///< whether it could explain a change that was found; never if it is unknown
  std::string sentence;      ///< "kernel: 6.1.0 before, 6.18.44 now"
};
void to_json(Json& json, const ConditionDifference& value);

/// Compares the conditions of `rows` in two objects of conditions.
std::vector<ConditionDifference> differing_conditions(const std::vector<ConditionRow>& rows, const Json& before,
                                                      const Json& after);

/// One subject, an allocator or a command, compared with its baseline.
struct CheckedSubject {
  std::string baseline_path;
  Json measured_on;  ///< this machine, as in a baseline
  Verdict verdict = Verdict::kSame;
  std::string sentence;
  std::vector<NotCompared> not_compared;
  std::vector<ConditionDifference> conditions;  ///< conditions that differ from those of the baseline
  std::string accept;                           ///< the command that accepts what is new
};

/// Several subjects, each compared with its own baseline.
template <typename Result>
struct CheckedSubjects {
  std::vector<Result> checks;
  bool strict = false;  ///< improvements fail, too
  Verdict verdict = Verdict::kSame;
  std::string sentence;
  bool passed = true;  ///< nothing changed, or for the better alone
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
