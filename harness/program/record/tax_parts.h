#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/metrics.h"

namespace zerotax::record {

/// Share of the CPU time below which a cause is not worth a change.
inline constexpr double kNoticed = 0.01;

/// Causes of zeroing: first the kernel's part, then the allocator's, then the program's.
enum class Cause {
  kFresh,
  kRefilled,
  kReturning,
  kUnseen,
  kRedundant,
  kNeeded,
  kUnexamined,
  kInFree,
  kByHand,
  kByProgram,
  kStores
};
ENUM_WORDS(Cause, "fresh", "refilled", "returning", "unseen", "redundant", "needed", "unexamined", "in_free", "by_hand",
           "by_program", "stores")

struct TaxRow {
  RESULT("tax row", "One cause of zeroing in a run.");
  FIELD(Cause, cause, "Cause of the zeroing.");
  FIELD(Count, bytes, "Bytes that the cause zeroed or returned.");
  FIELD(OrNull<std::uint64_t>, faults, "Zero-fill faults of this row; null if the row has no part in faults.");
  FIELD(Count, cpu_ns, "CPU nanoseconds that the cause took.");
  FIELD(Measured<double>, share_of_cpu, "Share of the run's CPU time that the row takes: cpu_ns / tax.cpu_ns.",
        most(1));
  FIELD(bool, estimated, "Whether cpu_ns is an estimate: bytes times fault_cost.");
  FIELD(std::uint64_t, at_least_cpu_ns, "Lower bound of the CPU nanoseconds; equal to cpu_ns if that is known.");
  FIELD(std::optional<Count>, at_most_cpu_ns, "Upper bound of the CPU nanoseconds, if cpu_ns is n/a.");
  FIELD(std::optional<Count>, at_most_bytes, "Value of `bytes`, or the upper bound of `bytes`, if cpu_ns is n/a.");
  FIELD(LowHigh, cpu_interval_ns, "The 95 % interval of cpu_ns, if it is from samples.");
};

struct OtherFaults {
  RESULT("other faults");
  FIELD(std::uint64_t, faults, "Lower bound of the number of other faults.");
  FIELD(std::uint64_t, estimated_cpu_ns,
        "Estimated CPU nanoseconds, if each fault costs as much as a zero-fill fault (fault_cost); at most the "
        "part of cpu_ns that no row takes.");
  FIELD(bool, noticed,
        "Whether estimated_cpu_ns is at least 1 % of cpu_ns. If so, zerotax does not claim that there is nothing to"
        " gain.");
  bool capped = false;  ///< whether the time was cut to the CPU time that no cause takes; not in the document
};

struct NotRecorded {
  RESULT("not recorded", "Processes that recorded nothing.");
  FIELD(std::uint64_t, processes, "Number of processes that recorded nothing.");
  MEMBER(minor_faults, "Minor faults of processes that recorded nothing.");
  Count minor_faults = std::uint64_t{0};
  MEMBER(cpu_ns, "CPU nanoseconds of processes that recorded nothing.");
  Count cpu_ns = std::uint64_t{0};
  FIELD(bool, noticed,
        "Whether processes that recorded nothing took at least 1 % of the run's CPU time, or an unknown part of it.");
};

/// A use of memory or time that is not part of zeroing.
enum class Beside { kSharedMemory, kZeroPages, kCopiedInFork, kExit, kThrottled };
ENUM_WORDS(Beside, "shared_memory", "zero_pages", "copied_in_fork", "exit", "throttled")

struct BesideRow {
  RESULT("beside row", "A use of memory or time, with its bytes or its nanoseconds.");
  FIELD(Beside, what,
        "The kind of use. `shared_memory`: resident shared memory (shm_open, memfd, System V, shared mappings) of"
        " the process that had most, at its end or at a sample every 20 ms. From outside: at a sample, or of all "
        "processes at the end. No cause of zeroing includes shared memory. `zero_pages`: pages of large blocks "
        "that were only read, so that one page of zeros stood for all of them. `copied_in_fork`: pages that fork "
        "copies because they are pinned. `exit`: CPU time of processes after their own code ended. `throttled`: "
        "time for which a CPU quota stopped the control group, summed over CPUs.");
  FIELD(std::optional<Count>, bytes, "Bytes of the use.");
  FIELD(std::optional<Count>, ns, "Time of the use, in nanoseconds.");
  FIELD(bool, noticed, "Whether the use is more than 1 % of the memory held at the peak, or more than 1 % of cpu_ns.");
  MEMBER(at_least,
         "Whether `bytes` is a lower bound: the amount at one time, which may have been exceeded at another time.");
  std::optional<bool> at_least = std::nullopt;
};

/// The command to run next if `record` leaves a cost unknown.
enum class FindOut {
  kNothing,
  kCauses,  ///< zerotax profile, because the cost itself is unknown
  kFaults,  ///< zerotax cow, because faults that zeroed nothing may cost more than zeroing
  kLonger,  ///< zerotax record again, with more samples
};

struct FaultCost {
  RESULT("fault cost");
  FIELD(Measured<double>, base_ns_per_byte, "CPU nanoseconds per byte in base pages.");
  FIELD(Measured<double>, huge_ns_per_byte, "CPU nanoseconds per byte in huge pages.");
  FIELD(std::uint64_t, samples, "Number of measurements in the recorded processes.");
  FIELD(std::string, measured_in, "The place where base_ns_per_byte was measured.", kMayBeEmpty);
};

struct Tax {
  RESULT("tax",
         "The cost of zeroing in a run. The denominator of every share is `cpu_ns`, and the rows add up to at "
         "most `cpu_ns`.");
  FIELD(std::uint64_t, cpu_ns,
        "CPU nanoseconds of the program and its descendants, without the recorder's own time and the time of "
        "programs that recorded nothing (not_recorded).");
  FIELD(std::uint64_t, recorder_cpu_ns, "CPU nanoseconds that the recorder took for its own examinations.");
  FIELD(Count, zeroing_cpu_ns,
        "CPU nanoseconds of all zeroing: the sum over the rows. n/a if zeroing_at_least_cpu_ns and "
        "zeroing_at_most_cpu_ns differ by more than a fiftieth and by more than 1 % of cpu_ns.");
  FIELD(Count, kernel_cpu_ns,
        "The part of zeroing_cpu_ns in the kernel: fresh, refilled, returning and unseen. n/a under the same "
        "condition as zeroing_cpu_ns.");
  FIELD(Measured<double>, share_of_cpu, "Share of the run's CPU time that zeroing takes: zeroing_cpu_ns / cpu_ns.",
        most(1));
  FIELD(std::uint64_t, zeroing_at_least_cpu_ns,
        "Lower bound of the cost of zeroing: the sum of at_least_cpu_ns over the rows.");
  FIELD(Count, zeroing_at_most_cpu_ns, "Upper bound of the cost of zeroing; n/a if it is unknown.");
  FIELD(LowHigh, zeroing_cpu_interval_ns,
        "Present if times are sampled: the sums of the lower and of the upper ends of the rows' 95 % intervals, "
        "including the times of rows that are not sampled. A verdict needs 50 samples, and an interval that lies "
        "on one side of 1 % of cpu_ns.");
  FIELD(bool, capped,
        "Whether the estimates exceeded the CPU time that the measured rows left, and were cut to that time.");
  FIELD(std::vector<TaxRow>, rows,
        "Rows by cause. `fresh` and `refilled`: zero-fill faults. `returning`: system calls that return memory. "
        "`unseen`: possible kernel-zeroed bytes beyond the bytes that were seen (kernel_unknown_processes). "
        "`redundant`, `needed` and `unexamined`: stores of zeros inside malloc's family, without their faults. "
        "`in_free`: stores inside free. `by_hand`: the program's memset right after malloc. `by_program`: other "
        "memsets of the program. `stores`: for a program recorded from outside, all stores of zeros in user mode.");
  FIELD(OtherFaults, other_faults,
        "Minor faults of the recorded processes that, as far as was seen, populated no memory of the process. "
        "These minor faults concern files, copies after a fork, shared memory, and memory that was returned unseen.");
  FIELD(std::optional<std::vector<BesideRow>>, beside,
        "Uses of memory or time that belong to no cause of zeroing, with a row for each use.");
  FIELD(NotRecorded, not_recorded,
        "Processes that recorded nothing. No other member of `tax` includes the faults and CPU time of these "
        "processes.");
  FIELD(bool, timing_changed,
        "Whether a process had several threads and the recorder took more than a twentieth of the CPU time. If "
        "so, the number of faults may differ from a run without the recorder.",
        kLater);
  FIELD(std::uint64_t, kernel_unknown_processes,
        "Number of processes that were not seen completely: their end, shared memory, or memory returned by system "
        "calls of their own is missing. The kernel-zeroed bytes of these processes lie between "
        "kernel.zeroed_at_least_bytes and kernel.zeroed_at_most_bytes.");
  FIELD(FaultCost, fault_cost, "The cost of populating memory.");
  FIELD(std::string, advice, "Advice on the next step.");
  bool emulated_cpu = false;
  // Members that are not in the document:
  std::optional<Cause> advice_about;       ///< the costliest cause, if it takes enough time
  bool advice_is_for_program = false;      ///< whether `remedy` changes the program instead of its allocator or
                                           ///< environment
  std::string remedy;                      ///< the remedy that `advice` names, in the imperative; empty: no remedy
  std::map<std::string, std::string> env;  ///< environment variables that the remedy sets
  std::string env_costs;                   ///< the price of these variables, as a clause
  FindOut find_out = FindOut::kNothing;
  std::uint64_t longer_seconds = 0;  ///< seconds to watch for more samples; 0 if there are enough samples, or more
                                     ///< would not help
};

}  // namespace zerotax::record
