#pragma once

#include <string>

#include "upstream/report.h"

namespace zerotax::upstream {

/// Tables of a report, as Markdown that also reads as plain text; each line ends with a line break.

/// Size x allocator: time, GB/s and faults of a whole operation (calloc, touching, free), fresh (the process's first)
/// and reused (later ones), at the finding's touch and thread.
std::string size_table(const ReportData& data);

/// Each setting with what was measured; the first row is without any. Empty if none was tried.
std::string knob_table(const ReportData& data);

/// Each exact threshold with what changes there, or that there is none.
std::string threshold_list(const ReportData& data);

/// "touch 1, worker thread": where the finding was seen, as the tables show it.
double table_touch(const ReportData& data);
std::string table_thread(const ReportData& data);

}  // namespace zerotax::upstream
