#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/statistics.h"
#include "observe/fault.h"
#include "observe/kernel_symbols.h"
#include "snapshot/process/run_block.h"

namespace zerotax::snapshot {

/// Reason why a run that was not made has no metrics.
inline constexpr const char* kNotRun = "interrupted before it was run";
/// Reason why a row of a sweep has no metrics if the sweep was interrupted before or during that row.
inline constexpr const char* kNotFinished = "interrupted before it was finished";

struct Counts : ClassCounts {
  RESULT("counts", "Page faults by class.");
  MEMBER(copies, "Faults that copied a page.");
  MEMBER(reuses, "Faults that made a page writable again without copying.");
  MEMBER(zero_fills, "Faults that populated a page of zeros.");
  MEMBER(file_faults, "Faults on shared memory or a file.");
  MEMBER(other, "Other faults: a read of untouched memory, swap, or a fault that was not handled.");
};

struct Quantiles : Spread {
  RESULT("spread", "Quantiles over runs.");
  MEMBER(median, "Median over the timing runs.");
  MEMBER(p05, "5th percentile over the timing runs.");
  MEMBER(p95, "95th percentile over the timing runs.");
};

struct Memory {
  RESULT("memory", "Memory in use by the parent and the child.");
  FIELD(std::int64_t, before_bytes, "Bytes before the writers started: the array, and the destination of the snapshot.",
        least(1));
  FIELD(std::int64_t, peak_bytes, "Largest amount of memory in use at any sample, in bytes.", least(1));
  FIELD(std::int64_t, samples, "Number of times that the memory was sampled.");
  /// Peak of the memory in use, minus the memory in use before the snapshot.
  [[nodiscard]] std::uint64_t added_bytes() const { return static_cast<std::uint64_t>(peak_bytes - before_bytes); }
};

struct Destination {
  RESULT("destination", "Faults on the memory that the snapshot is copied to.");
  FIELD(std::uint64_t, pages, "Number of pages of this memory.", least(1));
  FIELD(Counts, parent, "Faults of the parent.");
  FIELD(Counts, child, "Faults of the child.");
};

struct Timeline {
  RESULT("timeline", "Numbers of faults over time, in equal intervals.");
  FIELD(std::uint64_t, bin_ns, "Length of an interval, in nanoseconds.", least(1));
  FIELD(std::vector<Counts>, bins, "Number of faults in each interval.");
};

enum class FaultMethod { kTracepoints, kSoftware };
ENUM_WORDS(FaultMethod, "tracepoints", "software")

struct ArrayFaults {
  RESULT("array faults");
  FIELD(FaultMethod, method,
        "Method that classified the faults (docs/cow.md): 'tracepoints' as root, 'software' for other users.");
  FIELD(std::uint64_t, lost, "Number of lost events; if events were lost, the counts are too low.");
  FIELD(Counts, before_end,
        "The parent's faults on the array, from the instant of the snapshot to the end of the child, or of the copying "
        "threads.");
  FIELD(Counts, after_end,
        "The parent's faults on the array, from the end of the child (or of the copying threads) to the writers' end.");
};

struct Faults : ArrayFaults {
  RESULT("faults", "Page faults of a run.");
  BASE_FIELDS(ArrayFaults);
  FIELD(Counts, elsewhere,
        "The parent's faults outside the array, from the instant of the snapshot to the writers' end.");
  FIELD(Counts, child, "The child's faults anywhere, from the instant of the snapshot to the writers' end.");
  FIELD(Measured<Counts>, helper,
        "The exceptions that the helper thread of a remedy took on the array. These exceptions are not included "
        "in the parent's faults above. Pages that a system call populates cause no exception.",
        kLater);
  FIELD(Measured<Destination>, destination,
        "Faults on the memory that the snapshot is copied to, at any time of the run, if that memory is private.",
        kLater);
  FIELD(std::uint64_t, traced, "Sum of the parent's and the helper's faults above.");
  FIELD(std::int64_t, counted,
        "The kernel's count of the parent's faults from the instant of the snapshot to the writers' end (getrusage, "
        "minor and major). Faults that the helper's system calls count without an exception are not included. This "
        "count is a check of the counts above.");
  FIELD(std::uint64_t, pages, "Number of pages of the array, 4 KiB each.", least(1));
  FIELD(Measured<std::int64_t>, exclusive_pages,
        "Number of the array's pages that, right after the child's end, only the parent mapped (pagemap, bit 56).");
  FIELD(double, end_s, "Seconds from the snapshot to the end of the child, or of the copying threads, in this run.");
  FIELD(Timeline, timeline,
        "The parent's faults on the array over time, in equal intervals from the instant of the snapshot on.");
};

struct Sections : std::array<std::uint64_t, kKernelWorks> {
  RESULT("sections", "Nanoseconds of kernel time for each kind of kernel work.");
  ZEROTAX_VISIT_FIELD(visit("copy", object[kCopyWork], "Kernel time spent copying pages, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("zero", object[kZeroWork], "Kernel time spent filling pages with zeros, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("allocate", object[kAllocateWork], "Kernel time spent allocating pages, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("free", object[kFreeWork], "Kernel time spent freeing pages, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("tlb", object[kTlbWork], "Kernel time spent invalidating TLBs, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("split", object[kSplitWork], "Kernel time spent splitting huge pages, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("fault", object[kFaultWork],
                            "Kernel time of the rest of the page faults, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("fork", object[kForkWork], "Kernel time of the rest of fork, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("unmap", object[kUnmapWork], "Kernel time spent unmapping memory, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("userfaultfd", object[kUserfaultfdWork],
                            "Kernel time spent in userfaultfd, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("lock", object[kLockWork], "Kernel time spent waiting for locks, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("wait", object[kWaitWork], "Kernel time spent waiting for other threads, in nanoseconds."));
  ZEROTAX_VISIT_FIELD(visit("other", object[kOtherWork], "Kernel time of all other work, in nanoseconds."));
};

struct CpuPart {
  RESULT("cpu part", "CPU time of a process in a part of the run.");
  FIELD(std::uint64_t, samples, "Number of samples of the process's threads.");
  FIELD(std::uint64_t, user_ns, "CPU time in user mode: samples times the sampling period.");
  FIELD(Measured<std::uint64_t>, kernel_ns, "CPU time in the kernel: samples times the sampling period.");
  FIELD(Measured<Sections>, sections_ns, "CPU time in the kernel, by kind of work.");
};

struct Cpu {
  RESULT("cpu", "CPU time of the parent and the child, by samples.");
  FIELD(unsigned, hz, "Samples per second of CPU time.", least(1));
  FIELD(std::uint64_t, lost, "Number of samples that were lost.");
  FIELD(CpuPart, before_end,
        "The parent's CPU time from the instant of the snapshot to the end of the child, or of the copying threads.");
  FIELD(CpuPart, after_end,
        "The parent's CPU time from the end of the child (or of the copying threads) to the writers' end.");
  FIELD(Measured<CpuPart>, child, "The child's CPU time from the instant of the snapshot to the writers' end.", kLater);
};

struct Interval : CpuInterval {
  RESULT("interval", "CPU time between two samples.");
  MEMBER(end_ns, "Nanoseconds from the first sample to the end of the interval.");
  MEMBER(user_ns, "CPU time of the program in user mode, without the child (getrusage).");
  MEMBER(system_ns, "CPU time of the program in the kernel.");
  MEMBER(child_user_ns, "CPU time of the child in user mode (/proc/PID/stat, whole clock ticks of 10 ms).");
  MEMBER(child_system_ns, "CPU time of the child in the kernel.");
};

struct CpuTime {
  RESULT("cpu time", "CPU time of the program and its child, over the time of the run.");
  FIELD(std::int64_t, writers_begin_ns, "Nanoseconds from the first sample to the start of the writers.");
  FIELD(std::int64_t, writers_end_ns, "Nanoseconds from the first sample to the end of the last writer.");
  FIELD(std::int64_t, snapshot_ns, "Nanoseconds from the first sample to the instant of the snapshot.");
  FIELD(Measured<std::int64_t>, child_end_ns, "Nanoseconds from the first sample to the end of the child.");
  FIELD(std::vector<Interval>, intervals, "The intervals between two samples, one after the other.", least_items(1));
};

struct Child {
  RESULT("child", "The forked child.");
  FIELD(Quantiles, user_ns, "CPU time of the child in user mode (wait4).");
  FIELD(Quantiles, system_ns, "CPU time of the child in the kernel.");
  FIELD(std::uint64_t, batches, "Number of batches that the child copies.", least(1));
  FIELD(Measured<std::uint64_t>, unmapped_batches, "Number of batches that the child unmapped.");
  FIELD(OrNull<std::string>, unmap_error,
        "Reason why a batch could not be unmapped; null if every batch was unmapped.");
};

struct HelperFigures {
  RESULT("helper", "The helper thread of a remedy.");
  FIELD(Quantiles, wall_ns, "Time from the helper's start to its end.");
  FIELD(Quantiles, user_ns, "CPU time of the helper in user mode (getrusage).");
  FIELD(Quantiles, system_ns, "CPU time of the helper in the kernel.");
  FIELD(Quantiles, faults,
        "Minor faults that the kernel counts for the helper, including the faults of the helper's system calls.");
  FIELD(Quantiles, failed_bytes, "Bytes of the array in ranges that the helper could not make writable completely.");
};

struct AfterEnd {
  RESULT("after end", "Cost of the writers' work after the child's end.");
  FIELD(std::uint64_t, runs, "Number of runs that measured this cost.", least(1));
  FIELD(Quantiles, writers_user_ns, "CPU time of all writers in user mode after the child's end (getrusage).");
  FIELD(Quantiles, writers_system_ns, "CPU time of all writers in the kernel after the child's end.");
  FIELD(Quantiles, writers_faults, "Minor faults of all writers anywhere after the child's end (getrusage).");
  FIELD(Measured<HelperFigures>, helper, "The helper thread of a remedy.");
};

struct NodeShares {
  RESULT("shares", "Shares of the pages on two NUMA nodes.");
  FIELD(double, first, "Share of the pages on the first node.", most(1));
  FIELD(double, second, "Share of the pages on the second node.", most(1));
};

struct Placed {
  RESULT("placed", "NUMA nodes of the pages.");
  FIELD(Measured<NodeShares>, array, "Pages of the array.");
  FIELD(Measured<NodeShares>, destination, "Pages of the destination of the snapshot, as the parent has them.");
};

/// The metrics of a result. Each is n/a if the result's status is not ok.
struct Figures {
  RESULT("figures");
  FIELD(Measured<bool>, has_child, "Whether a forked child takes the snapshot.");
  FIELD(Measured<Quantiles>, writers_wall_ns, "Time from the writers' start to the end of the last writer.");
  FIELD(Measured<double>, slowdown,
        "The median of writers_wall_ns, divided by the median of the baseline under the same allocator. In files of an "
        "earlier version, the baseline is the alternative 'none'.");
  FIELD(Measured<Quantiles>, writers_user_ns, "CPU time of all writers in user mode (getrusage).");
  FIELD(Measured<Quantiles>, writers_system_ns, "CPU time of all writers in the kernel (getrusage).");
  FIELD(Measured<Quantiles>, stopped_ns,
        "Time for which all writers were stopped, by fork itself or by other work at the instant of the snapshot.");
  FIELD(Measured<Quantiles>, snapshot_ns, "Time from the instant of the snapshot until the last batch was copied.");
  FIELD(
      Measured<std::int64_t>, checked_elements,
      "Number of 8-byte elements compared in each run with their values at the instant of the snapshot. The published "
      "program's snapshot, which only the child sees, is compared in the run for memory.",
      least(1));
  FIELD(Measured<Child>, child, "CPU time and batches of the forked child.", kLater);
  FIELD(Measured<AfterEnd>, after_end,
        "CPU time and faults after the child's end. The values come from timing runs where the writers resumed only "
        "after the child's end, or after the end of the remedy.",
        kLater);
  FIELD(Measured<Memory>, memory,
        "Memory of parent and child together: the anonymous part of PSS of both, and the program's shared memory by "
        "the kernel's count, sampled every 2 ms in a separate run. Page tables are not included.");
  FIELD(Measured<Faults>, faults, "Page faults, in a separate run.");
  FIELD(Measured<Faults>, faults_held,
        "Page faults in a run where the writers resumed only after the child had ended.");
  FIELD(Measured<Cpu>, cpu, "The parent's CPU time by samples (cpu-clock), in a separate run.");
  FIELD(Measured<Cpu>, cpu_held,
        "The parent's CPU time in a run where the writers resumed only after the child had ended.");
  FIELD(Measured<CpuTime>, cpu_time,
        "CPU time of the program and of its child over time, as a monitor such as htop sees it, in a separate run.",
        kLater);
  // Shown only in rows of a sweep.
  Measured<Quantiles> child_end_ns;
  Measured<std::uint64_t> copy_done_first_runs;
  Measured<Placed> placed;
};

Figures no_figures(const std::string& why);

}  // namespace zerotax::snapshot
