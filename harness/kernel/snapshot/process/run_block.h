#pragma once

#include <cstdint>
#include <type_traits>

namespace zerotax::snapshot {

// The interface between `zerotax snapshot` and libexec/fork-snapshot. The program writes this plain data to a shared
// memory file at the end of its run. Times are CLOCK_MONOTONIC; CPU times are in nanoseconds.

/// CPU time of the program and of its child, either since the start or within an interval.
struct CpuInterval {
  std::int64_t end_ns = 0;  ///< end of the interval, by CLOCK_MONOTONIC in a RunBlock, otherwise since the first sample
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t child_user_ns = 0;
  std::int64_t child_system_ns = 0;
};

/// Value of a metric that was not counted.
inline constexpr std::int64_t kNotCounted = -1;

/// The metrics of one run.
struct RunMetrics {
  // Facts for an observer in another process. The destination is 0 if it is shared memory; the child is 0 without a
  // fork.
  std::int64_t pid = 0;
  std::int64_t child = 0;
  std::int64_t array_begin = 0;
  std::int64_t array_end = 0;
  std::int64_t destination_begin = 0;
  std::int64_t destination_end = 0;
  // Facts of the alternative.
  std::int64_t takes_snapshot = 0;
  std::int64_t told_by_sharing = 0;
  // The course of the run.
  std::int64_t stopped_ns = 0;   ///< all writers were paused, or had not started yet
  std::int64_t released_ns = 0;  ///< the alternative's work at the instant of the snapshot was done
  std::int64_t complete_ns = 0;  ///< the last batch was copied
  std::int64_t gone_ns = 0;      ///< the child was waited for, or the copying threads were joined
  std::int64_t window_begin_ns = 0;
  std::int64_t window_end_ns = 0;
  std::int64_t window_faults = 0;              ///< minor and major faults of the process from window_begin_ns to
                                               ///< window_end_ns
  std::int64_t exclusive_pages = kNotCounted;  ///< pages of the array that only the process maps, after the child's end
  // The writers. begin_ns is their start, and end_ns the end of the last writer. The other values are sums over all
  // writers: `writers_` since the start, `resumed_` since each writer resumed after the snapshot.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t writers_user_ns = 0;
  std::int64_t writers_system_ns = 0;
  std::int64_t resumed_user_ns = 0;
  std::int64_t resumed_system_ns = 0;
  std::int64_t resumed_faults = 0;
  // The helper thread of a remedy. helper_tid is 0 if the alternative has no helper.
  std::int64_t helper_tid = 0;
  std::int64_t helper_begin_ns = 0;
  std::int64_t helper_end_ns = 0;
  std::int64_t helper_user_ns = 0;
  std::int64_t helper_system_ns = 0;
  std::int64_t helper_faults = 0;
  std::int64_t helper_bulk_faults = 0;   ///< part of helper_faults that the kernel counted in MADV_POPULATE_WRITE,
                                         ///< without a page fault exception
  std::int64_t helper_failed_bytes = 0;  ///< bytes that the helper could not make writable
  // The child.
  std::int64_t child_user_ns = 0;
  std::int64_t child_system_ns = 0;
  std::int64_t unmapped_batches = 0;
  std::int64_t unmap_error = 0;  ///< errno of a batch that could not be unmapped
  // Memory in use, if memory was sampled.
  std::int64_t first_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t memory_samples = 0;
  // With a placement: the pages in memory, and the pages on the first and second NUMA node.
  std::int64_t array_pages_seen = kNotCounted;
  std::int64_t array_on_first = 0;
  std::int64_t array_on_second = 0;
  std::int64_t destination_pages_seen = kNotCounted;
  std::int64_t destination_on_first = 0;
  std::int64_t destination_on_second = 0;
  // Verification of the snapshot: the elements compared, the elements that differ, and the index of the first that
  // differs.
  std::int64_t checked_elements = 0;
  std::int64_t wrong_elements = 0;
  std::int64_t first_wrong = 0;
};

struct RunBlock {
  static constexpr std::uint32_t kMostSamples = 200;
  enum class End : std::uint32_t { kNone, kDone, kSkipped };

  End end;           ///< kNone if the run did not finish
  char reason[256];  ///< reason why the run was skipped
  RunMetrics metrics;
  std::uint32_t cpu_samples;
  CpuInterval cpu[kMostSamples];  ///< CPU time since the start, if CPU time was sampled
};
static_assert(std::is_trivially_copyable_v<RunBlock>);

}  // namespace zerotax::snapshot
