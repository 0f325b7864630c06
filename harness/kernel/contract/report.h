#pragma once

#include <string>
#include <vector>

#include "contract/promise.h"

namespace zerotax::contract {

/// Writes a bug report for each broken promise (harness/allocator/report/forms/promise.txt) into FOLDER/ID: report.md
/// and reproducer.c. `subject` names the tested system, as in "QEMU 7.2, user mode". Returns the ids of the broken
/// promises. Throws UsageError if the files cannot be written.
std::vector<std::string> write_reports(const Results& results, const std::string& subject, const std::string& folder);

}  // namespace zerotax::contract
