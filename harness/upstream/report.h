#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/typed_point.h"
#include "findings/document.h"
#include "upstream/reproducer_run.h"

namespace zerotax::upstream {

/// A setting that was tried against a finding.
struct KnobTrial {
  Json env;
  std::string words;  ///< what it is said to do
  std::string mark;
  Json effect;  ///< the figures with it, and "avoids"; or {"na": …}
};

/// All that a report is written from: measured in one run.
struct ReportData {
  findings::AllocatorFindings subject;
  findings::Finding finding;
  std::uint64_t size_bytes = 0;  ///< that the reproducer and the trials are of
  std::string started;
  Json environment;
  std::string compiler;
  std::vector<Point> points;     ///< of the table: the allocator, and the others beside it
  std::vector<Json> thresholds;  ///< those of the allocator at the finding's touch and thread
  std::vector<KnobTrial> knobs;
  Json without;        ///< the figures of KnobTrial::effect without any
  std::string source;  ///< the reproducer
  std::string how;     ///< its command line
  ReproducerRun shown;
  ReproducerRun control;
  std::string diagnostics;   ///< the allocator's own, or empty
  std::string profile_text;  ///< an excerpt, or why there is none
  Json profile;              ///< "categories" of zerotax.profile/1, or {"na": …}
};

/// The version in which a known report says that the cause is gone, if this one is older.
struct KnownFix {
  Json duplicate;
  std::string version;
};
std::optional<KnownFix> known_fix(const ReportData& data);

/// The object of "zerotax.report/1" (results/schema/report.schema.json).
Json report_json(const ReportData& data);

}  // namespace zerotax::upstream
