#pragma once

#include <string>

#include "observe/fault_data.h"

namespace zerotax::cow {

/// The heading of the live lines, with its line break. Lines are cut at `columns`, unless it is 0.
std::string cow_heading(std::size_t columns = 0);

/// One interval in live lines, each with its line break: all that was watched, with a bar of a "@" for each copy (64 at
/// most); where there are children, also the parent and they apart, with the number that
/// lives.
std::string cow_lines(const FaultInterval& interval, std::size_t columns = 0);

}  // namespace zerotax::cow
