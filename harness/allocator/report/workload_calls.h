#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "replay/calls_file.h"

namespace zerotax::report {

/// One call of a recorded program, or pages that it populated, as harness/allocator/report/reproducers/workload.c has
/// them.
struct WorkloadCall {
  enum class What : std::uint32_t { kMalloc, kCalloc, kAligned, kRealloc, kFree, kTouch };
  What what{};
  std::uint32_t block = 0;
  std::uint64_t bytes = 0;  ///< kTouch: the first page, from the one that the block begins in
  std::uint64_t more = 0;   ///< logarithm of the alignment; the block that realloc takes; pages
};
static_assert(sizeof(WorkloadCall) == 24, "the evaluating program reads them from a file");

/// The calls of one process of a recording, in their order: of the one with most calls that was not forked. Its own
/// mappings are left out. Populated pages stand behind the call that makes their block; blocks of less than
/// 16 KiB have none. Throws UsageError for a damaged recording.
std::vector<WorkloadCall> workload_calls(const replay::CallsFile& file);

/// Number of calls, without entries for pages.
std::size_t calls_in(const std::vector<WorkloadCall>& calls);

/// Of each call, its unit: calls of one block, and of what realloc made of it, belong together.
std::vector<std::size_t> units_of(const std::vector<WorkloadCall>& calls);

/// The calls of some units, with new numbers for their blocks. `kept`: by unit.
std::vector<WorkloadCall> calls_of(const std::vector<WorkloadCall>& calls, const std::vector<std::size_t>& units,
                                   const std::vector<bool>& kept);

/// A set of units that shows something as a whole, and no longer does without any one of its parts: delta debugging
/// (Zeller and Hildebrandt, 2002: ddmin). `shows` is asked at most `most` times, and is true of all units.
std::vector<bool> shortest(std::size_t units, std::size_t most,
                           const std::function<bool(const std::vector<bool>&)>& shows);

/// As the initialiser of workload.c: {CALLOC, 0, 1572864, 0}, ...
std::string calls_as_c(const std::vector<WorkloadCall>& calls);

}  // namespace zerotax::report
