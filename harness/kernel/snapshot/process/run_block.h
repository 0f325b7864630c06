#pragma once

#include <cstdint>
#include <type_traits>

namespace zerotax::snapshot {

// The interface between `zerotax snapshot` and libexec/fork-snapshot: plain data, which the program writes to a shared
// memory file when its run is done. Times are CLOCK_MONOTONIC, CPU times are in nanoseconds.

/// CPU time of the program and of its child: so far, or in an interval that ended then.
struct CpuInterval {
  std::int64_t end_ns = 0;  ///< CLOCK_MONOTONIC, or since the first sample
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t child_user_ns = 0;
  std::int64_t child_system_ns = 0;
};

/// The value of a metric that was not counted.
inline constexpr std::int64_t kNotCounted = -1;

/// The metrics of one run.
struct RunMetrics {
  // For an observer in another process. The destination is 0 if it is shared memory; the child is 0 without a fork.
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
  std::int64_t stopped_ns = 0;   ///< all writers stand still, or are not there yet
  std::int64_t released_ns = 0;  ///< what the alternative does at that instant is done
  std::int64_t complete_ns = 0;  ///< the last batch was copied
  std::int64_t gone_ns = 0;      ///< the child was waited for, or the copying threads were joined
  std::int64_t window_begin_ns = 0;
  std::int64_t window_end_ns = 0;
  std::int64_t window_faults = 0;  ///< of the process in that time, minor and major
  std::int64_t exclusive_pages =
      kNotCounted;  ///< pages of the array that the process alone maps, after the child's end
  // All writers together: from their start (begin_, writers_), and from when each resumed (resumed_).
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
  std::int64_t helper_bulk_faults = 0;   ///< those of them that a system call counted, without an exception
  std::int64_t helper_failed_bytes = 0;  ///< memory that it could not do anything for
  // The child.
  std::int64_t child_user_ns = 0;
  std::int64_t child_system_ns = 0;
  std::int64_t unmapped_batches = 0;
  std::int64_t unmap_error = 0;  ///< errno of a batch that could not be unmapped
  // Memory in use, if it was sampled.
  std::int64_t first_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t memory_samples = 0;
  // With a placement: the pages in memory, and those of them on the first and on the second NUMA node.
  std::int64_t array_pages_seen = kNotCounted;
  std::int64_t array_on_first = 0;
  std::int64_t array_on_second = 0;
  std::int64_t destination_pages_seen = kNotCounted;
  std::int64_t destination_on_first = 0;
  std::int64_t destination_on_second = 0;
  // Verification of the snapshot: elements compared, elements that differ, and the index of the first one that differs.
  std::int64_t checked_elements = 0;
  std::int64_t wrong_elements = 0;
  std::int64_t first_wrong = 0;
};

struct RunBlock {
  static constexpr std::uint32_t kMostSamples = 200;
  enum class End : std::uint32_t { kNone, kDone, kSkipped };

  End end;           ///< kNone: the run has not come to its end
  char reason[256];  ///< why it was skipped
  RunMetrics metrics;
  std::uint32_t cpu_samples;
  CpuInterval cpu[kMostSamples];  ///< CPU time so far, if it was sampled
};
static_assert(std::is_trivially_copyable_v<RunBlock>);

}  // namespace zerotax::snapshot
