#pragma once

#include <string>

#include "upstream/report.h"

namespace zerotax::upstream {

/// A report as its tracker takes it.
struct ReportText {
  std::string file_name;  ///< report.md, or report.txt where a tracker knows no Markdown
  std::string text;       ///< the form in reports/forms, filled in
};

/// Fills in the form of the allocator's project; that of a distribution where the cause is gone in a later version.
ReportText write_report(const ReportData& data);

/// The title: what, at which size, and by how much; with the allocator's name and version.
std::string report_title(const ReportData& data);

}  // namespace zerotax::upstream
