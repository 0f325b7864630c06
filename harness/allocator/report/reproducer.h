#pragma once

#include <string>
#include <vector>

#include "judge/finding.h"

namespace zerotax::report {

/// What a reproducer says of itself.
struct ReproducerWords {
  std::string title;  ///< what it shows
  std::string how;    ///< how it is compiled and run
};

/// Whether there is a reproducer for findings of this name.
bool has_reproducer(const std::string& finding_name);

/// All possible names of findings: a rule, and what distinguishes its findings.
std::vector<std::string> finding_names();

/// Whether an id could be of this allocator: its name, the name of a finding, a size.
bool is_possible_id(const std::string& id, const std::string& allocator);

/// The C program of at most 40 lines that exits with 1 if the finding shows and with 0 if not, from
/// harness/allocator/report/reproducers. It needs a C compiler and the C library. Throws std::logic_error for a finding
/// that has none.
std::string reproducer_source(const Finding& finding, const ReproducerWords& words);

/// The likely cause, judging by the finding alone: for allocators whose source was not read.
std::string hypothesis(const Finding& finding);

}  // namespace zerotax::report
