#pragma once

#include <string>
#include <vector>

#include "base/palette.h"
#include "judge/finding.h"

namespace zerotax::findings {

/// How many there are of each severity, and the first of the most severe.
std::string findings_sentence(const std::vector<AllocatorFindings>& all);

/// "3 findings: 1 high, 2 low", or "no findings".
std::string findings_count(const std::vector<AllocatorFindings>& all);
std::size_t number_of(const std::vector<AllocatorFindings>& all);

/// For people: at most 80 columns.
std::string findings_text(const std::vector<AllocatorFindings>& all, const Palette& palette = {});

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names);

}  // namespace zerotax::findings
