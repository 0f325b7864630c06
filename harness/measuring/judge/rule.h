#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "judge/finding.h"
#include "point/typed_point.h"

namespace zerotax {

/// A threshold of a run (zerotax.thresholds/1), as far as rules look at it.
struct MeasuredThreshold {
  std::string allocator;
  double touch = 0;
  std::string thread;
  std::uint64_t after_bytes = 0;
  std::uint64_t at_bytes = 0;
  bool exact = false;
  bool noisy = false;
};

/// What a rule looks at: all that was measured of one allocator in one configuration.
struct FindingSubject {
  std::string allocator;
  std::vector<const Point*> points;                  ///< of this allocator
  std::vector<const MeasuredThreshold*> thresholds;  ///< of this allocator
  std::vector<const Point*> edges;     ///< of this allocator, on both sides of its thresholds, one byte apart
  std::vector<const Point*> peers;     ///< points of the other allocators of the same run
  std::vector<const Point*> controls;  ///< of this allocator: the same points on every host of a fleet
};

/// A rule over measured points: one static object of this kind in judge/rules/<name>.cc. Deterministic metrics
/// decide; times only illustrate.
class FindingRule {
 public:
  using Find = std::vector<Finding> (*)(const FindingSubject& subject);

  /// `name`: as in the ids of its findings; `meaning`: for people, one line; `shown_in`: of its findings, unless one
  /// says otherwise.
  FindingRule(const char* name, const char* meaning, ShownIn shown_in, Find function);

  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] const char* meaning() const { return meaning_; }
  [[nodiscard]] const ShownIn& shown_in() const { return shown_in_; }
  [[nodiscard]] std::vector<Finding> find(const FindingSubject& subject) const { return find_(subject); }

  /// Every rule, by name.
  static const std::vector<const FindingRule*>& all();

 private:
  const char* name_;
  const char* meaning_;
  ShownIn shown_in_;
  Find find_;
};

/// What the finding's rule looks for, in a line.
std::string meaning_of(const Finding& finding);

/// Reads the thresholds of a run from the object of thresholds.json; null has none.
struct MeasuredThresholds {
  std::vector<MeasuredThreshold> all;
  MeasuredThresholds() = default;
  MeasuredThresholds(const Json& document);  // NOLINT(google-explicit-constructor)
};

/// Measurements of a run beside its points.
struct BesidePoints {
  std::vector<Point> edges;     ///< on both sides of thresholds, one byte apart (edges_plan)
  std::vector<Point> controls;  ///< the same points on every host of a fleet
};

/// The input of rules, one for each allocator and configuration of a run, in order of appearance. It points into its
/// arguments.
std::vector<FindingSubject> subjects_of(const std::vector<Point>& points, const MeasuredThresholds& thresholds,
                                        const BesidePoints& beside);

/// Applies every rule to the points of a run, its thresholds and what was measured beside them. One entry per allocator
/// and configuration, in order of appearance, those without findings too. `rules`: the names of the rules to apply;
/// empty: all.
std::vector<AllocatorFindings> find_findings(const std::vector<Point>& points,
                                             const MeasuredThresholds& thresholds = {}, const BesidePoints& beside = {},
                                             const std::vector<std::string>& rules = {});

}  // namespace zerotax
