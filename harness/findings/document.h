#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/palette.h"
#include "core/typed_point.h"
#include "findings/finding.h"
#include "findings/rule.h"

namespace zerotax::findings {

/// The findings of one allocator in one configuration.
struct AllocatorFindings {
  std::string allocator;
  Json version;
  Json env;
  std::vector<Finding> findings;  ///< most costly first
};

/// What a run measured beside its points.
struct BesidePoints {
  std::vector<Point> edges;     ///< on both sides of thresholds, one byte apart (edges_plan)
  std::vector<Point> controls;  ///< the same points on every host of a fleet
};

/// What rules look at, one for each allocator and configuration of a run, in order of appearance. It points into its
/// arguments.
std::vector<FindingSubject> subjects_of(const std::vector<Point>& points, const Json& thresholds,
                                        const BesidePoints& beside);

/// Applies every rule to the points of a run, the thresholds (the object of thresholds.json, or null) and what was
/// measured beside them. One entry per allocator and configuration, in order of appearance, those without findings too.
/// `rules`: the names of those to apply; all of them if it is empty.
std::vector<AllocatorFindings> find_findings(const std::vector<Point>& points, const Json& thresholds,
                                             const BesidePoints& beside = {},
                                             const std::vector<std::string>& rules = {});

/// A setting with what it changed: figures, or {"na": why}; and that in words.
Json knob_json(const Json& env, const Json& effect);

/// One finding as in "zerotax.findings/1", its knobs not tried yet.
Json finding_json(const AllocatorFindings& subject, const Finding& finding);

/// The object of "zerotax.findings/1" (results/schema/findings.schema.json); `run` is where the points are from.
Json findings_json(const std::vector<AllocatorFindings>& all, const std::string& run);

/// How many there are of each severity, and the first of the most severe, of its "findings".
std::string findings_sentence(const Json& findings);

/// For people, of that object: at most 80 columns.
std::string findings_text(const Json& findings, const Palette& palette = {});

/// "3 findings: 1 high, 2 low", or "no findings".
std::string findings_count(const Json& findings);

}  // namespace zerotax::findings
