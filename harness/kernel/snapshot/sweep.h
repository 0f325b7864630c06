#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "point/plan.h"
#include "snapshot/result.h"

namespace zerotax::snapshot {

enum class IsItCopying { kNo, kUntilEnd, kAfterEnd };
ENUM_WORDS(IsItCopying, "no", "until_end", "after_end")
enum class DoneFirst { kAlways, kSometimes, kNever };
ENUM_WORDS(DoneFirst, "always", "sometimes", "never")

struct SweepVerdict {
  RESULT("verdict", "The verdict on a row.");
  FIELD(Measured<IsItCopying>, is_it_copying,
        "Whether the kernel copied pages. no: no page was copied. until_end: pages were copied until the end of the "
        "child, or of the copying threads. after_end: more than 2 % of the pages were copied even after this end.");
  FIELD(Measured<DoneFirst>, copy_done_first,
        "Whether the copy was complete before the writers ended: in all timing runs, in some, or in none.");
  FIELD(std::string, sentence, "Both verdicts on the row, in words.");
};

struct SweptFaults : ArrayFaults {
  RESULT("faults", "Page faults of a row.");
  BASE_FIELDS(ArrayFaults);
  FIELD(std::uint64_t, pages, "Number of pages of the array.", least(1));
};

inline constexpr Limit kPlacements = one_of("default|same|apart|interleaved");

struct SweptRow : SnapshotParameters {
  RESULT("row", "A combination and an alternative.");
  FIELD(std::string, alternative, "Name of the alternative.");
  BASE_FIELDS(SnapshotParameters);
  MEMBER(placement,
         "Placement of the array and the destination on NUMA nodes. default: the kernel's choice. same: both on the "
         "first node. apart: the destination on the second node. interleaved: both on all nodes.",
         kPlacements);
  MEMBER(status, "Outcome of the runs. skipped: the row cannot be measured here, or was not finished.", kStatusWords);
  Status status = Status::kSkipped;
  FIELD(OrNull<std::string>, reason, "Reason for a status that is not ok; null if it is ok.");
  FIELD(std::uint64_t, runs, "Number of timing runs that finished.");
  FIELD(Measured<Quantiles>, writers_wall_ns, "Time from the writers' start to the end of the last writer.");
  FIELD(Measured<Quantiles>, copy_ns, "Time from the instant of the snapshot until the last batch was copied.");
  FIELD(Measured<Quantiles>, child_end_ns, "Time from the instant of the snapshot until the child was waited for.");
  FIELD(Measured<Quantiles>, writers_user_ns, "CPU time of all writers in user mode (getrusage).");
  FIELD(Measured<Quantiles>, writers_system_ns, "CPU time of all writers in the kernel (getrusage).");
  FIELD(Measured<std::uint64_t>, copy_done_first_runs,
        "Timing runs in which the last batch was copied before the last writer ended.");
  FIELD(Measured<CpuTime>, cpu_time, "CPU time of the program and of its child over time, in a separate run.");
  FIELD(Measured<SweptFaults>, faults, "The parent's faults on the array, in a separate run.");
  FIELD(Measured<Placed>, placed, "NUMA nodes of the pages at the end of a timing run, by move_pages(2).");
  FIELD(Measured<SweepVerdict>, verdict,
        "Whether the kernel is copying, and whether the copy is complete before the writers end.");

  [[nodiscard]] bool ok() const { return status == Status::kOk; }
};

struct SweptAxes : SweepAxes {
  RESULT("axes", "The values of each axis.");
  MEMBER(writers, "Numbers of threads that write to the array.", least(1), least_items(1));
  MEMBER(checkpointers, "Numbers of threads that copy the array.", least(1), least_items(1));
  MEMBER(array_bytes, "Sizes of the array, in bytes.", least(1), least_items(1));
  MEMBER(batch_bytes, "Bytes that are copied at a time.", least(1), least_items(1));
  FIELD(Measured<std::vector<std::string>>, placement,
        "NUMA nodes of the array and of the destination of the snapshot, as in a row.", least_items(1), kPlacements);
};

struct Sweep : DocumentHead {
  RESULT("zerotax snapshot --sweep",
         "The document of zerotax snapshot --sweep --json: snapshots of an array that threads write to, for each "
         "combination of threads, sizes and batches. Times are in nanoseconds. A metric that could not be measured is "
         "{\"na\": \"why\"}, never 0.");
  SCHEMA_FIELD("zerotax.snapshot_sweep/1");
  VERSION_FIELD();
  FIELD(Completion, state, "State of the run: every row was run, or the run was stopped early.");
  STARTED_FIELD();
  MEMBER(command, "The command line, verbatim.", kMayBeEmpty, least_items(1));
  ENVIRONMENT_FIELD();
  FIELD(AllocatorEntry, allocator, "The allocator that the array comes from.");
  MEMBER(repeat, "Number of timing runs of each row.", least(1));
  unsigned repeat = 1;
  FIELD(SweptAxes, axes, "The values of each axis.");
  FIELD(std::vector<SweptRow>, rows, "One row for each combination and alternative.", least_items(1));
  FIELD(OrNull<std::string>, loss,
        "The rows whose fault counts are too low, because the kernel's buffers overflowed; null if no fault was lost.",
        kLater);
  FIELD(Measured<std::string>, sentence, "The verdicts of all rows in one sentence.");
};

/// Measures the rows one after the other. Each row has timing runs, a run for CPU time over time, and a run for faults.
/// A signal ends the sweep and discards the runs of an unfinished row. The result lacks its verdict and environment.
Sweep run_sweep(const SweepAxes& axes, const std::vector<SnapshotPlan>& rows);

/// The verdict on a row: whether the kernel is copying, and whether the copy is complete before the writers end.
Measured<SweepVerdict> sweep_verdict(const SweptRow& row);

/// A row's alternative, sizes, threads and placement, in words.
std::string sweep_title(const SweptRow& row);

/// Adds or replaces the verdict on each row, and the verdict on the whole sweep.
void add_sweep_verdict(Sweep& sweep);

}  // namespace zerotax::snapshot
