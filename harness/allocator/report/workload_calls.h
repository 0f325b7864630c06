#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "replay/calls_file.h"

namespace zerotax::report {

/// A call of a recorded program, or pages that the program populated, in the form of
/// harness/allocator/report/reproducers/workload.c.
struct WorkloadCall {
  enum class What : std::uint32_t { kMalloc, kCalloc, kAligned, kRealloc, kFree, kTouch };
  What what{};
  std::uint32_t block = 0;
  std::uint64_t bytes = 0;  ///< size; for kTouch the index of the first page, counted from the page in which the block
                            ///< begins
  std::uint64_t more = 0;   ///< logarithm of the alignment, number of the block for realloc, or number of pages
};
static_assert(sizeof(WorkloadCall) == 24, "the evaluating program reads them from a file");

/// Returns the calls of one process of a recording, in their order. Of the processes that were not forked, the one with
/// the most calls is chosen. The process's own mappings are left out. Populated pages follow the call that allocates
/// their block, except for blocks of less than 16 KiB. Throws UsageError for a damaged recording.
std::vector<WorkloadCall> workload_calls(const replay::CallsFile& file);

/// Returns the number of calls, without entries for pages.
std::size_t calls_in(const std::vector<WorkloadCall>& calls);

/// Returns the unit of each call. All calls that concern a block belong to one unit. Blocks that realloc makes of this
/// block belong to the same unit.
std::vector<std::size_t> units_of(const std::vector<WorkloadCall>& calls);

/// Returns the calls of some units, with new numbers for their blocks. `kept` has a flag for each unit.
std::vector<WorkloadCall> calls_of(const std::vector<WorkloadCall>& calls, const std::vector<std::size_t>& units,
                                   const std::vector<bool>& kept);

/// Returns a minimal set of units that shows the effect: without any one part of the set, the effect is gone. Method:
/// delta debugging (ddmin; Zeller and Hildebrandt, 2002). `shows` is called at most `most` times, and must be true for
/// all units together.
std::vector<bool> shortest(std::size_t units, std::size_t most,
                           const std::function<bool(const std::vector<bool>&)>& shows);

/// Returns the calls as the initializer in workload.c: {CALLOC, 0, 1572864, 0}, ...
std::string calls_as_c(const std::vector<WorkloadCall>& calls);

}  // namespace zerotax::report
