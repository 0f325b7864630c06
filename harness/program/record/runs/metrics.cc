#include <fmt/format.h>

#include "record/runs/result.h"

namespace zerotax::record::runs {

const std::array<MetricRow, kMetrics>& metric_rows() {
  using enum Metric;
  using enum Family;
  static const std::array<MetricRow, kMetrics> rows{{
      {kMinorFaults, "minor_faults", "page faults", Unit::kCount, true, kOfKernel},
      {kZeroFillFaults, "zero_fill_faults", "zero-fill faults", Unit::kCount, true, kOfKernel},
      {kKernelZeroed, "kernel_zeroed_bytes", "memory zeroed by the kernel", Unit::kBytes, true, kOfKernel},
      {kFresh, "fresh_bytes", "fresh memory", Unit::kBytes, false, kOfKernel},
      {kRefilled, "refilled_bytes", "refilled memory", Unit::kBytes, false, kOfKernel},
      {kReturned, "returned_bytes", "memory returned to the kernel", Unit::kBytes, true, kOfKernel},
      {kReturnedInFree, "returned_in_free_bytes", "memory returned in free", Unit::kBytes, false, kOfKernel},
      {kReturnedInRealloc, "returned_in_realloc_bytes", "memory returned in realloc", Unit::kBytes, false, kOfKernel},
      {kReturnedByMunmap, "returned_by_munmap_bytes", "memory returned by munmap", Unit::kBytes, false, kOfKernel},
      {kReturnedByMadvise, "returned_by_madvise_bytes", "memory returned by madvise", Unit::kBytes, false, kOfKernel},
      {kReturnedByBrk, "returned_by_brk_bytes", "memory returned by brk", Unit::kBytes, false, kOfKernel},
      {kZeroed, "zeroed_bytes", "memory zeroed by the allocator", Unit::kBytes, true, kOfAllocator},
      {kRedundant, "redundant_zeroed_bytes", "redundant zeroing", Unit::kBytes, false, kOfAllocator},
      {kNeeded, "needed_zeroed_bytes", "needed zeroing", Unit::kBytes, false, kOfAllocator},
      {kZeroedInFree, "zeroed_in_free_bytes", "memory zeroed in free", Unit::kBytes, true, kOfAllocator},
      {kByHand, "by_hand_zeroed_bytes", "memory zeroed by malloc+memset", Unit::kBytes, true, kOfNewBlocks},
      {kByProgram, "by_program_zeroed_bytes", "memory zeroed by other memset", Unit::kBytes, true, kOfProgram},
      {kPeakLive, "peak_live_bytes", "peak of live heap", Unit::kBytes, true, kOfPeak},
      {kPeak, "peak_bytes", "peak resident memory", Unit::kBytes, true, kOfPeak},
      {kMappingCalls, "mapping_calls", "system calls that change mappings", Unit::kCount, true, kOfMappings},
      {kAllocations, "allocation_calls", "allocation calls", Unit::kCount, true, kOfCalls},
      {kRequested, "allocation_bytes", "requested memory", Unit::kBytes, true, kOfCalls},
      {kCallocCalls, "calloc_calls", "calls of calloc", Unit::kCount, false, kOfCalls},
      {kCallocBytes, "calloc_bytes", "memory requested of calloc", Unit::kBytes, false, kOfCalls},
      {kMallocCalls, "malloc_calls", "calls of malloc", Unit::kCount, false, kOfCalls},
      {kMallocBytes, "malloc_bytes", "memory requested of malloc", Unit::kBytes, false, kOfCalls},
      {kReallocCalls, "realloc_calls", "calls of realloc", Unit::kCount, false, kOfCalls},
      {kReallocBytes, "realloc_bytes", "memory requested of realloc", Unit::kBytes, false, kOfCalls},
      {kFreeCalls, "free_calls", "calls of free", Unit::kCount, false, kOfCalls},
  }};
  return rows;
}

const MetricRow& row_of(Metric metric) { return metric_rows()[static_cast<std::size_t>(metric)]; }

const char* key_of(Metric metric) { return row_of(metric).key; }

std::string name_of(const MetricRow& row, const std::string& process) {
  return process.empty() ? row.name : fmt::format("{} of {}", row.name, process);
}

}  // namespace zerotax::record::runs
