#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/measured.h"
#include "judge/projects.h"
#include "judge/rule.h"
#include "os/environment.h"
#include "point/plan.h"
#include "point/typed_point.h"
#include "profile/result.h"
#include "report/reproducer.h"

namespace zerotax::report {

/// The metrics by which settings are compared.
struct KnobEffect {
  Measured<std::uint64_t> redundant_zeroed_bytes;
  Measured<std::uint64_t> calloc_faults;
  Measured<std::uint64_t> operation_faults;
  Measured<double> operation_ns;
  std::optional<bool> avoids;  ///< the finding is gone with it; nothing where no setting was tried
};

/// A setting that was tried against a finding.
struct KnobTrial {
  ProjectKnob knob;
  Measured<KnobEffect> effect;
};

/// A threshold of the allocator, as zerotax.thresholds/1 has it.
struct ReportThreshold {
  std::uint64_t after_bytes = 0;
  std::uint64_t at_bytes = 0;
  bool exact = false;
  bool noisy = false;
  std::vector<std::string> changes;
  Json whole;  ///< with what reports only pass on
};

/// Where time went, by category.
struct ReportProfile {
  std::uint64_t samples = 0;
  std::vector<profile::Category> categories;
};

/// All that a report is written from: measured in one run.
struct ReportData {
  AllocatorFindings subject;
  Finding finding;
  std::uint64_t size_bytes = 0;  ///< that the reproducer and the trials are of
  std::string started;
  Environment environment;
  std::string compiler;
  std::vector<Point> points;                ///< of the table: the allocator, and the others beside it
  std::vector<ReportThreshold> thresholds;  ///< those of the allocator at the finding's touch and thread
  std::vector<KnobTrial> knobs;
  Measured<KnobEffect> without;  ///< any setting
  std::string source;            ///< the reproducer
  std::string how;               ///< its command line
  ReproducerRun shown;
  ReproducerRun control;
  std::string diagnostics;   ///< the allocator's own, or empty
  std::string profile_text;  ///< an excerpt, or why there is none
  Measured<ReportProfile> profile;
};

/// The version in which a known report says that the cause is gone, if this one is older.
struct KnownFix {
  ProjectIssue issue;
  std::string version;
};
std::optional<KnownFix> known_fix(const ReportData& data);

/// What is known of the cause, or a hypothesis.
std::vector<ProjectEntry> causes_of(const ReportData& data);

/// The object of "zerotax.report/1" (results/schema/report.schema.json).
Json report_json(const ReportData& data);

/// Those of an object of "zerotax.thresholds/1".
std::vector<ReportThreshold> read_thresholds(const Json& document);

/// Tables of a report, as Markdown that also reads as plain text; each line ends with a line break.

/// A table of sizes and allocators, at the finding's touch and thread: time, GB/s and faults of a whole operation
/// (calloc, touching, free). "fresh" is the process's first operation, "reused" a later one. A text table unless
/// `markdown`.
std::string size_table(const ReportData& data, bool markdown = true);

/// Each setting with what was measured; the first row is without any. Empty if none was tried.
std::string knob_table(const ReportData& data, bool markdown = true);

/// Each exact threshold with what changes there, or that none was found.
std::string threshold_list(const ReportData& data);

/// "touch 1, worker thread": where the finding was seen, as the tables show it.
double table_touch(const ReportData& data);
std::string table_thread(const ReportData& data);

/// A report as its tracker takes it.
struct ReportText {
  std::string file_name;  ///< report.md, or report.txt where a tracker knows no Markdown
  std::string text;       ///< the form in harness/allocator/report/forms, filled in
};

/// Fills in the form of the allocator's project; that of a distribution where the cause is gone in a later version.
ReportText write_report(const ReportData& data);

/// The title: what, at which size, and by how much; with the allocator's name and version.
std::string report_title(const ReportData& data);

/// What changes with the number of the call does so before the sixth.
inline constexpr Repeats kReportRepeats{20, 8, 8, 8, 300};

/// One line on standard error: which step of a report is being done.
void say_step(const std::string& what);

/// The case that shows a finding.
std::string case_of(const Finding& finding);

/// The point with these keys, or nullptr.
const Point* point_at(const std::vector<Point>& points, const std::string& allocator, const std::string& case_name,
                      std::uint64_t size, double touch, const std::string& thread);

}  // namespace zerotax::report
