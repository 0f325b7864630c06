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
      {kProcesses, "started_processes", "started processes", Unit::kCount, true, kOfProcesses,
       "Processes that the command and its descendants started by calls that the recorder saw."},
      {kForks, "fork_calls", "calls of fork", Unit::kCount, true, kOfProcesses,
       "Calls of fork, each of which copied the page tables of its process."},
      {kResidentAtIdle, "resident_at_idle_bytes", "resident memory at idle", Unit::kBytes, true, kOfResident,
       "Resident anonymous bytes after an idle second, the sum of all processes that were idle."},
      {kLiveAtIdle, "live_at_idle_bytes", "live memory at idle", Unit::kBytes, true, kOfResident,
       "The part of resident_at_idle_bytes in live blocks."},
      {kFreeAtIdle, "free_at_idle_bytes", "free whole pages at idle", Unit::kBytes, true, kOfResident,
       "The part of resident_at_idle_bytes in free whole pages."},
      {kFragmentedAtIdle, "fragmented_at_idle_bytes", "free memory beside live blocks at idle", Unit::kBytes, true,
       kOfResident, "The part of resident_at_idle_bytes that is free, on pages with live blocks."},
      {kOfferedAtIdle, "offered_at_idle_bytes", "memory under MADV_FREE at idle", Unit::kBytes, false, kOfResident,
       "The part of resident_at_idle_bytes under MADV_FREE."},
      {kResidentAtPeak, "resident_at_peak_bytes", "resident memory at the peak", Unit::kBytes, true, kOfResident,
       "Resident anonymous bytes at the peak of each process, the sum of all processes."},
      {kLiveAtPeak, "live_at_peak_bytes", "live memory at the peak", Unit::kBytes, true, kOfResident,
       "The part of resident_at_peak_bytes in live blocks."},
      {kFreeAtPeak, "free_at_peak_bytes", "free whole pages at the peak", Unit::kBytes, true, kOfResident,
       "The part of resident_at_peak_bytes in free whole pages."},
      {kFragmentedAtPeak, "fragmented_at_peak_bytes", "free memory beside live blocks at the peak", Unit::kBytes, true,
       kOfResident, "The part of resident_at_peak_bytes that is free, on pages with live blocks."},
      {kOfferedAtPeak, "offered_at_peak_bytes", "memory under MADV_FREE at the peak", Unit::kBytes, false, kOfResident,
       "The part of resident_at_peak_bytes under MADV_FREE."},
      {kResidentAtEnd, "resident_at_end_bytes", "resident memory at the end", Unit::kBytes, true, kOfResident,
       "Resident anonymous bytes at the end of each process, the sum of all processes."},
      {kLiveAtEnd, "live_at_end_bytes", "live memory at the end", Unit::kBytes, true, kOfResident,
       "The part of resident_at_end_bytes in live blocks."},
      {kFreeAtEnd, "free_at_end_bytes", "free whole pages at the end", Unit::kBytes, true, kOfResident,
       "The part of resident_at_end_bytes in free whole pages."},
      {kFragmentedAtEnd, "fragmented_at_end_bytes", "free memory beside live blocks at the end", Unit::kBytes, true,
       kOfResident, "The part of resident_at_end_bytes that is free, on pages with live blocks."},
      {kOfferedAtEnd, "offered_at_end_bytes", "memory under MADV_FREE at the end", Unit::kBytes, false, kOfResident,
       "The part of resident_at_end_bytes under MADV_FREE."},
  }};
  return rows;
}

const MetricRow& row_of(Metric metric) { return metric_rows()[static_cast<std::size_t>(metric)]; }

bool is_of_resident(Metric metric) { return row_of(metric).family == Family::kOfResident; }

const char* key_of(Metric metric) { return row_of(metric).key; }

KeyRow key_row(Metric metric) {
  const MetricRow& row = row_of(metric);
  return {row.key, row.description,
          row.family >= Family::kOfProcesses ? kAbsentIfEmpty
          : row.is_later                     ? kLater
                                             : with("{}")};
}

KeyRow key_row(SiteNumber number) {
  static constexpr KeyRow kRows[] = {
      {"calls", "Number of calls from the code location.", with("{}")},
      {"requested_bytes", "Bytes requested.", with("{}")},
      {"kernel_zeroed_bytes", "Bytes that the kernel zeroed for blocks allocated at the site.", with("{}")},
      {"refilled_bytes", "The part of kernel_zeroed_bytes in memory that was returned before.", with("{}")},
      {"returned_bytes", "Bytes returned to the kernel in calls from the site.", with("{}")},
      {"zeroed_bytes", "Bytes zeroed in calls from the site.", with("{}")},
      {"peak_live_bytes",
       "Bytes of large blocks (64 KiB and more) allocated at the site that were live at the highest peak of a process.",
       kLater}};
  static_assert(std::size(kRows) == kSiteNumbers);
  return kRows[static_cast<std::size_t>(number)];
}

const char* key_of(SiteNumber number) { return key_row(number).key; }

std::string name_of(const MetricRow& row, const std::string& process) {
  return process.empty() ? row.name : fmt::format("{} of {}", row.name, process);
}

}  // namespace zerotax::record::runs
