#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "report/report.h"

namespace zerotax::report {

/// A finding, and its report if one was written.
struct ReportedFinding {
  std::string id;
  std::string title{};     ///< the allocator's name and version, and the finding
  std::string sentence{};  ///< the finding with its numbers
  Severity severity = Severity::kLow;
  std::string folder{};   ///< folder of the report; empty if no report was written
  std::string file{};     ///< name of the report's text in this folder
  std::string how{};      ///< command that compiles and runs the reproducer in this folder
  std::string control{};  ///< allocator under which the reproducer does not show the finding
  std::string tracker{};  ///< address that takes the report; empty if unknown
  std::string fix{};      ///< clause about the version that fixes the finding; empty if there is none
  std::string why_not{};  ///< sentence that says why no report was written
  std::string show{};     ///< command that shows a finding without a reproducer; empty if there is a reproducer
};

/// Returns the summary of a finding whose report was written to this folder.
ReportedFinding written_report(const ReportData& data, const std::string& folder, const std::string& file);

/// Returns the answer about findings, of which each has a report or a reason why not.
Answer report_answer(const AllocatorFindings& found, const std::vector<ReportedFinding>& findings);

/// Returns the answer if no finding was severe enough or, with `id`, the finding with this id did not show. Lists all
/// other findings. `word` is the allocator as given on the command line.
Answer nothing_to_report(const AllocatorFindings& found, const std::string& id, const std::string& severity,
                         const std::string& word);

/// Returns the text of --full: the headline, and the path, title and fix of each report.
std::string report_text(const AllocatorFindings& found, const std::vector<ReportedFinding>& findings);

}  // namespace zerotax::report
