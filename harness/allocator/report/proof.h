#pragma once

#include <string>

#include "base/error.h"

namespace zerotax::report {

/// Writes a bug report for each broken promise in a file of `zerotax prove --json`: a folder in `out` with the text and
/// the program. Returns kFinding if a finding has no program that shows it. Throws UsageError for any other file.
ExitStatus report_proof(const std::string& file, const std::string& out);

}  // namespace zerotax::report
