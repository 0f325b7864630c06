#pragma once

#include <string>

#include "observe/fault_data.h"

namespace zerotax::cow {

/// The heading of the live lines, with its line break. Lines are cut at `columns`, unless it is 0.
std::string cow_heading(std::size_t columns = 0);

/// One interval in live lines, each with its line break: first a line for each child that began or ended, with the time
/// of day; then all that was watched, and, where there are children, a line for each process: the parent, the children
/// that copied most (8 at most), and the others together. A bar has a "@" for each factor of 4 of the copies. `tenths`:
/// times of day to a tenth of a second.
std::string cow_lines(const FaultInterval& interval, bool tenths, std::size_t columns = 0);

}  // namespace zerotax::cow
