#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/typed_point.h"
#include "findings/finding.h"

namespace zerotax::findings {

/// What a rule looks at: all that was measured of one allocator in one configuration.
struct FindingSubject {
  std::string allocator;
  std::vector<const Point*> points;     ///< of this allocator
  std::vector<const Json*> thresholds;  ///< of this allocator, as in thresholds.json
  std::vector<const Point*> edges;      ///< of this allocator, on both sides of its thresholds, one byte apart
  std::vector<const Point*> peers;      ///< points of the other allocators of the same run
  std::vector<const Point*> controls;   ///< of this allocator: the same points on every host of a fleet
};

/// A rule over measured points: one static object of this kind in findings/rules/<name>.cc. Deterministic figures
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

}  // namespace zerotax::findings
