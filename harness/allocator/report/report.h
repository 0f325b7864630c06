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

/// Metrics for comparing settings.
struct KnobEffect {
  Measured<std::uint64_t> redundant_zeroed_bytes;
  Measured<std::uint64_t> calloc_faults;
  Measured<std::uint64_t> operation_faults;
  Measured<double> operation_ns;
  std::optional<bool> avoids;  ///< whether the finding is gone with the setting; empty if no setting was tried
};

/// A setting tried against a finding.
struct KnobTrial {
  ProjectKnob knob;
  Measured<KnobEffect> effect;
};

struct ReportProfile {
  RESULT("report profile", "Samples of the case by category of work.");
  FIELD(std::uint64_t, samples, "Number of samples.");
  FIELD(std::vector<profile::Category>, categories, "Categories, as in a profile.",
        as_in("profile.schema.json#/properties/categories"));
};

/// All data of a report, measured in one run.
struct ReportData {
  AllocatorFindings subject;
  Finding finding;
  std::uint64_t size_bytes = 0;  ///< size used by the reproducer and the trials
  std::string started;
  Environment environment;
  std::string compiler;
  std::vector<Point> points;                  ///< points of the table, of the allocator and of the allocators that are
                                              ///< compared with it
  std::vector<MeasuredThreshold> thresholds;  ///< thresholds of the allocator for the finding's touch and thread
  std::vector<KnobTrial> knobs;
  Measured<KnobEffect> without;  ///< metrics of the finding without any tried setting
  std::string source;            ///< source of the reproducer
  std::string how;               ///< command that compiles and runs the reproducer
  ReproducerRun shown;
  ReproducerRun control;
  std::string diagnostics;   ///< the allocator's own output; empty if there is none
  std::string profile_text;  ///< excerpt of the profile, or the reason why there is none
  Measured<ReportProfile> profile;
};

/// A known report, and the version that fixes its cause. The version is newer than the measured one.
struct KnownFix {
  ProjectIssue issue;
  std::string version;
};
std::optional<KnownFix> known_fix(const ReportData& data);

/// Returns the known causes of a finding, or a hypothesis.
std::vector<ProjectEntry> causes_of(const ReportData& data);

/// Returns the object of "zerotax.report/1" (report/document.h).
Json report_json(const ReportData& data);

/// Tables of a report, as Markdown that also reads well as plain text. Each line ends with a line break.

/// Returns a table of sizes and allocators for the finding's touch and thread. The table has time, GB/s and faults of a
/// whole operation (calloc, touching, free). Columns are "fresh" for the first operation of a process, and "reused" for
/// later operations. Without `markdown`, the table is plain text.
std::string size_table(const ReportData& data, bool markdown = true);

/// Returns a table with the effect of each tried setting, after a row without any setting. Empty if no setting was
/// tried.
std::string knob_table(const ReportData& data, bool markdown = true);

/// Returns a list of exact thresholds and their changes, or a line saying that none was found.
std::string threshold_list(const ReportData& data);

/// Touch and thread for the tables, such as touch 1 and "worker".
double table_touch(const ReportData& data);
std::string table_thread(const ReportData& data);

/// The text of a report in the form that its tracker accepts.
struct ReportText {
  std::string file_name;  ///< report.md, or report.txt for a tracker without Markdown
  std::string text;       ///< completed form from harness/allocator/report/forms
};

/// Completes the form of the allocator's project, or that of a distribution if a later version fixes the cause.
ReportText write_report(const ReportData& data);

/// Returns the title: the allocator's name and version, and the finding with its size and extent.
std::string report_title(const ReportData& data);

/// Numbers of operations for reports. If behavior depends on the number of the call, it changes before the sixth call.
inline constexpr Repeats kReportRepeats{20, 8, 8, 8, 300};

/// Prints the next step of a report to standard error.
void say_step(const std::string& what);

/// Returns the case that shows a finding.
std::string case_of(const Finding& finding);

/// Returns the point with these keys, or nullptr.
const Point* point_at(const std::vector<Point>& points, const std::string& allocator, const std::string& case_name,
                      std::uint64_t size, double touch, const std::string& thread);

}  // namespace zerotax::report
