#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/metrics.h"

namespace zerotax::record {

/// A cause that takes a smaller share of the CPU time is not worth anybody's time.
inline constexpr double kNoticed = 0.01;

/// Who zeroed, or caused it: the kernel's part first, then the allocator's, then the program's.
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
  FIELD(Cause, cause, "The cause.");
  FIELD(Count, bytes, "Bytes.");
  FIELD(OrNull<std::uint64_t>, faults, "Zero-fill faults; null where they are not this row's.");
  FIELD(Count, cpu_ns, "CPU nanoseconds.");
  FIELD(Measured<double>, share_of_cpu, "cpu_ns / tax.cpu_ns.", most(1));
  FIELD(bool, estimated, "Whether cpu_ns is bytes times fault_cost.");
  FIELD(std::uint64_t, at_least_cpu_ns, "The least that it took: cpu_ns where that is known.");
  FIELD(std::optional<Count>, at_most_cpu_ns, "Where cpu_ns is n/a: the most that it can have taken.");
  FIELD(std::optional<Count>, at_most_bytes, "Where cpu_ns is n/a: bytes, or the most that they can be.");
  FIELD(LowHigh, cpu_interval_ns, "Where cpu_ns is from samples: its 95 % interval.");
};

struct OtherFaults {
  RESULT("other faults");
  FIELD(std::uint64_t, faults, "Their number, at least.");
  FIELD(std::uint64_t, estimated_cpu_ns,
        "CPU nanoseconds, each at the cost of a zero-fill fault (fault_cost); at most the part of cpu_ns that the rows "
        "leave.");
  FIELD(bool, noticed, "Whether that is 1 % of cpu_ns: then it is not said that there is nothing to gain.");
  bool capped = false;  ///< limited to the CPU time that the causes left; not in the document
};

struct NotRecorded {
  RESULT("not recorded", "Nothing, unless something was added.");
  FIELD(std::uint64_t, processes, "Their number.");
  MEMBER(minor_faults, "Their minor faults.");
  Count minor_faults = std::uint64_t{0};
  MEMBER(cpu_ns, "Their CPU nanoseconds.");
  Count cpu_ns = std::uint64_t{0};
  FIELD(bool, noticed, "Whether they took 1 % of the run's CPU time, or nobody knows how much.");
};

/// A use of memory or time that does not count as zeroing here.
enum class Beside { kSharedMemory, kZeroPages, kCopiedInFork, kExit, kThrottled };
ENUM_WORDS(Beside, "shared_memory", "zero_pages", "copied_in_fork", "exit", "throttled")

struct BesideRow {
  RESULT("beside row", "One use of memory or time, with its bytes or its time.");
  FIELD(Beside, what,
        "shared_memory: resident shared memory (shm_open, memfd, System V, shared mappings), which is not counted, of "
        "the process that had most, at its end or at a look every 20 ms; from outside, at a look, or of all processes "
        "at the end. zero_pages: pages of large blocks that were only read, so that one page of zeros stood for all. "
        "copied_in_fork: pages that fork copies because they are pinned. exit: CPU time of processes after their own "
        "code ended. throttled: time for which a CPU quota stopped the control group, summed over CPUs.");
  FIELD(std::optional<Count>, bytes, "Bytes.");
  FIELD(std::optional<Count>, ns, "Nanoseconds.");
  FIELD(bool, noticed, "Whether it is more than 1 %: of the memory held at the peak, or of cpu_ns.");
  MEMBER(at_least, "Whether bytes is a lower bound: there was so much at one time, and may have been more at another.");
  std::optional<bool> at_least = std::nullopt;
};

struct FaultCost {
  RESULT("fault cost");
  FIELD(Measured<double>, base_ns_per_byte, "CPU nanoseconds per byte, base pages.");
  FIELD(Measured<double>, huge_ns_per_byte, "The same in huge pages.");
  FIELD(std::uint64_t, samples, "Measurements in the recorded processes.");
  FIELD(std::string, measured_in, "Where base_ns_per_byte was measured.", kMayBeEmpty);
};

struct Tax {
  RESULT("tax",
         "What zeroing cost a run. Every share has `cpu_ns` as its denominator, and the rows add up to it at most.");
  FIELD(std::uint64_t, cpu_ns,
        "CPU nanoseconds of the program and its descendants, the recorder's own and those of programs that recorded "
        "nothing (not_recorded) left out.");
  FIELD(std::uint64_t, recorder_cpu_ns, "CPU nanoseconds of the recorder's own examinations.");
  FIELD(Count, zeroing_cpu_ns,
        "Sum of the rows; n/a if zeroing_at_least_cpu_ns and zeroing_at_most_cpu_ns are further apart than a fiftieth "
        "and 1 % of cpu_ns.");
  FIELD(Count, kernel_cpu_ns,
        "The part of zeroing_cpu_ns in the kernel: fresh, refilled, returning and unseen; n/a likewise.");
  FIELD(Measured<double>, share_of_cpu, "zeroing_cpu_ns / cpu_ns.", most(1));
  FIELD(std::uint64_t, zeroing_at_least_cpu_ns, "Sum of at_least_cpu_ns of the rows.");
  FIELD(Count, zeroing_at_most_cpu_ns, "The most that zeroing can have taken; n/a if nobody knows.");
  FIELD(LowHigh, zeroing_cpu_interval_ns,
        "Present if times are sampled: the sums of the lower and of the upper ends of their 95 % intervals, with the "
        "other rows. A verdict needs 50 samples and an interval on one side of 1 % of cpu_ns.");
  FIELD(bool, capped, "Whether the estimates came to more than the CPU time that was left, and were cut to it.");
  FIELD(std::vector<TaxRow>, rows,
        "By cause. fresh, refilled: zero-fill faults; returning: the system calls that return memory; unseen: what the "
        "kernel may have zeroed beyond what was seen of it (kernel_unknown_processes); redundant, needed, unexamined: "
        "stores of zeros inside malloc's family, without the faults in them; in_free: inside free; by_hand: by the "
        "program with a memset right after malloc; by_program: by its other memsets. stores: of a program recorded "
        "from outside, all stores of zeros in user mode.");
  FIELD(OtherFaults, other_faults,
        "Minor faults of the recorded processes that populated no memory of their own, as far as was seen: of files, "
        "copies after a fork, shared memory, memory returned by a way that was not seen.");
  FIELD(std::optional<std::vector<BesideRow>>, beside,
        "Costs of memory or time that no cause of zeroing above contains, a row for each.");
  FIELD(NotRecorded, not_recorded, "Processes that recorded nothing: in no other figure of tax.");
  FIELD(bool, timing_changed,
        "Whether a process had several threads and the recorder took more than a twentieth of the CPU time: how often "
        "the program faults may then differ from a run without it.",
        kLater);
  FIELD(std::uint64_t, kernel_unknown_processes,
        "Processes of which not all was seen (their end, shared memory, memory returned by system calls of their own): "
        "what the kernel zeroed for them lies between kernel.zeroed_at_least_bytes and kernel.zeroed_at_most_bytes.");
  FIELD(FaultCost, fault_cost, "What it took to populate memory.");
  FIELD(std::string, advice, "What to try next.");
  bool emulated_cpu = false;
  // Not in the document:
  std::optional<Cause> advice_about;   ///< the cause that costs most, if it takes enough
  bool advice_is_for_program = false;  ///< advises to change the program, not its allocator or environment
};

}  // namespace zerotax::record
