#include <fmt/format.h>

#include "record/runs/result.h"

namespace zerotax::record::runs {

const std::array<MetricRow, kMetrics>& metric_rows() {
  using enum Metric;
  using enum Family;
  static const std::array<MetricRow, kMetrics> rows{{
      {kMinorFaults, "minor_faults", "page faults", Unit::kCount, true, kOfKernel,
       "Number of minor page faults, without faults of the recorder."},
      {kZeroFillFaults, "zero_fill_faults", "zero-fill faults", Unit::kCount, true, kOfKernel,
       "Number of page faults that zeroed memory."},
      {kKernelZeroed, "kernel_zeroed_bytes", "memory zeroed by the kernel", Unit::kBytes, true, kOfKernel,
       "Bytes that the kernel zeroed in pages that faults populated."},
      {kFresh, "fresh_bytes", "fresh memory", Unit::kBytes, false, kOfKernel,
       "The part of kernel_zeroed_bytes in memory that the process had not held before."},
      {kRefilled, "refilled_bytes", "refilled memory", Unit::kBytes, false, kOfKernel,
       "The part of kernel_zeroed_bytes beyond the process's peak of held memory."},
      {kReturned, "returned_bytes", "memory returned to the kernel", Unit::kBytes, true, kOfKernel,
       "Populated bytes that were returned to the kernel."},
      {kReturnedInFree, "returned_in_free_bytes", "memory returned in free", Unit::kBytes, false, kOfKernel,
       "The part of returned_bytes that was returned in calls to free."},
      {kReturnedInRealloc, "returned_in_realloc_bytes", "memory returned in realloc", Unit::kBytes, false, kOfKernel,
       "The part of returned_bytes that was returned in calls to realloc."},
      {kReturnedByMunmap, "returned_by_munmap_bytes", "memory returned by munmap", Unit::kBytes, false, kOfKernel,
       "The part of returned_bytes that was returned by munmap."},
      {kReturnedByMadvise, "returned_by_madvise_bytes", "memory returned by madvise", Unit::kBytes, false, kOfKernel,
       "The part of returned_bytes that was returned by madvise."},
      {kReturnedByBrk, "returned_by_brk_bytes", "memory returned by brk", Unit::kBytes, false, kOfKernel,
       "The part of returned_bytes that was returned by brk."},
      {kZeroed, "zeroed_bytes", "memory zeroed by the allocator", Unit::kBytes, true, kOfAllocator,
       "Bytes that the allocator zeroed itself, outside free."},
      {kRedundant, "redundant_zeroed_bytes", "redundant zeroing", Unit::kBytes, false, kOfAllocator,
       "The part of the examined zeroed_bytes that was already zero."},
      {kNeeded, "needed_zeroed_bytes", "needed zeroing", Unit::kBytes, false, kOfAllocator,
       "The part of the examined zeroed_bytes that was not zero before."},
      {kZeroedInFree, "zeroed_in_free_bytes", "memory zeroed in free", Unit::kBytes, true, kOfAllocator,
       "Bytes that the allocator zeroed in free."},
      {kByHand, "by_hand_zeroed_bytes", "memory zeroed by malloc+memset", Unit::kBytes, true, kOfNewBlocks,
       "Bytes that the program zeroed by memset in a newly allocated block."},
      {kByProgram, "by_program_zeroed_bytes", "memory zeroed by other memset", Unit::kBytes, true, kOfProgram,
       "Bytes that the program zeroed by memset in other memory."},
      {kPeakLive, "peak_live_bytes", "peak of live heap", Unit::kBytes, true, kOfPeak,
       "Maximum bytes of blocks that were live at one time, by malloc_usable_size, in the process with the "
       "highest peak. The peaks of several processes are not added. A child of fork begins with the live bytes of"
       " its parent.",
       true},
      {kPeak, "peak_bytes", "peak resident memory", Unit::kBytes, true, kOfPeak,
       "Maximum resident anonymous memory that all processes can have held at one time. Each process counts with "
       "its peak from its start to its end. Memory that a child of fork shares with its parent counts once."},
      {kMappingCalls, "mapping_calls", "system calls that change mappings", Unit::kCount, true, kOfMappings,
       "Calls to mmap, munmap, mremap, brk and madvise.", true},
      {kAllocations, "allocation_calls", "allocation calls", Unit::kCount, true, kOfCalls,
       "Calls to calloc, malloc (with the aligned functions) and realloc."},
      {kRequested, "allocation_bytes", "requested memory", Unit::kBytes, true, kOfCalls,
       "Bytes requested in allocation_calls."},
      {kCallocCalls, "calloc_calls", "calls of calloc", Unit::kCount, false, kOfCalls, "Calls to calloc."},
      {kCallocBytes, "calloc_bytes", "memory requested of calloc", Unit::kBytes, false, kOfCalls,
       "Bytes requested from calloc."},
      {kMallocCalls, "malloc_calls", "calls of malloc", Unit::kCount, false, kOfCalls,
       "Calls to malloc and the aligned functions."},
      {kMallocBytes, "malloc_bytes", "memory requested of malloc", Unit::kBytes, false, kOfCalls,
       "Bytes requested from malloc and the aligned functions."},
      {kReallocCalls, "realloc_calls", "calls of realloc", Unit::kCount, false, kOfCalls, "Calls to realloc."},
      {kReallocBytes, "realloc_bytes", "memory requested of realloc", Unit::kBytes, false, kOfCalls,
       "Bytes requested from realloc."},
      {kFreeCalls, "free_calls", "calls of free", Unit::kCount, false, kOfCalls, "Calls to free with a block."},
  }};
  return rows;
}

const MetricRow& row_of(Metric metric) { return metric_rows()[static_cast<std::size_t>(metric)]; }

const char* key_of(Metric metric) { return row_of(metric).key; }

KeyRow key_row(Metric metric) {
  const MetricRow& row = row_of(metric);
  return {row.key, row.description, row.is_later};
}

KeyRow key_row(SiteNumber number) {
  static constexpr KeyRow kRows[] = {
      {"calls", "Number of calls from the code location.", false},
      {"requested_bytes", "Bytes requested.", false},
      {"kernel_zeroed_bytes", "Bytes that the kernel zeroed for blocks allocated at the site.", false},
      {"refilled_bytes", "The part of kernel_zeroed_bytes in memory that was returned before.", false},
      {"returned_bytes", "Bytes returned to the kernel in calls from the site.", false},
      {"zeroed_bytes", "Bytes zeroed in calls from the site.", false},
      {"peak_live_bytes",
       "Bytes of large blocks (64 KiB and more) allocated at the site that were live at the highest peak of a process.",
       true}};
  static_assert(std::size(kRows) == kSiteNumbers);
  return kRows[static_cast<std::size_t>(number)];
}

const char* key_of(SiteNumber number) { return key_row(number).key; }

std::string name_of(const MetricRow& row, const std::string& process) {
  return process.empty() ? row.name : fmt::format("{} of {}", row.name, process);
}

}  // namespace zerotax::record::runs
