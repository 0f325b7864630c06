#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/fields.h"
#include "record/preload/arena.h"

namespace zerotax::record {

ENUM_WORDS(Mechanism, "munmap", "madvise", "brk", "mremap", "mmap")
ENUM_WORDS(ReturnCause, "free", "realloc", "allocation", "purge", "program")

using Count = Measured<std::uint64_t>;

struct Zeroing {
  RESULT("zeroing", "Stores of zeros.");
  FIELD(Count, zeroing_stores, "Calls of memset and its siblings that wrote these zeros.");
  FIELD(Count, zeroed_bytes, "Bytes that they zeroed.");
  FIELD(Count, redundant_zeroed_bytes,
        "The part of examined_zeroed_bytes that was already zero: in pages that were not populated, or whose part of "
        "the store was all zero.");
  FIELD(std::uint64_t, examined_zeroed_bytes,
        "The part of zeroed_bytes in stores of rule.large_bytes or more, whose pages and contents were examined just "
        "before. Of by_program, the first 64 stores of each thread, then samples.");
  FIELD(Count, zero_ns,
        "Nanoseconds inside the stores of rule.large_bytes or more (timed_zeroed_bytes), including faults.");
  FIELD(Count, zero_cpu_ns, "CPU nanoseconds of the threads inside the timed stores, including faults.", kLater);
  FIELD(Count, zero_faults, "Minor faults of the thread inside those stores.");
  FIELD(std::uint64_t, timed_zeroed_bytes, "The part of zeroed_bytes in stores that were timed.");
};

struct SmallSamples {
  RESULT("small samples");
  FIELD(std::uint64_t, stores, "Their number.");
  FIELD(std::uint64_t, bytes, "Bytes that they zeroed.");
  FIELD(std::uint64_t, redundant_bytes, "The part of these bytes in pages whose part of the store was all zero.");
};

struct UnseenCalls {
  RESULT("unseen calls");
  FIELD(std::uint64_t, calls, "Their number.");
  FIELD(std::uint64_t, populated_bytes, "Populated bytes of their blocks, minus those that memset wrote.");
};

struct HugeBlocks {
  RESULT("huge blocks");
  FIELD(std::uint64_t, freed, "Such blocks.");
  FIELD(std::uint64_t, examined_bytes, "Populated bytes of those that were examined: all zeroed by the kernel.");
  FIELD(std::uint64_t, written_bytes,
        "The part of examined_bytes in pages that are not all zero: what the program wrote.");
};

/// The lowest and the highest value of an estimate, or of a number of bytes that includes an estimate.
using LowHigh = std::optional<std::array<std::uint64_t, 2>>;

struct ReturnedBy : ReturnRow {
  RESULT("returned by");
  FIELD(ReturnCause, by,
        "free or realloc; allocation: malloc, calloc and the aligned functions; purge: the allocator outside such a "
        "call; program: the program itself.");
  FIELD(Mechanism, mechanism, "The system call; mremap and mmap return what they cut off or replace.");
  MEMBER(calls, "System calls.");
  MEMBER(bytes, "Bytes.");
  MEMBER(cpu_ns, "CPU nanoseconds inside them.");
};

struct Returned {
  RESULT("returned", "Populated anonymous memory returned to the kernel.");
  FIELD(Count, calls, "System calls that returned any.");
  FIELD(Count, bytes, "Bytes that they returned.");
  FIELD(Count, cpu_ns, "CPU nanoseconds inside those system calls.");
  FIELD(std::uint64_t, sampled_calls,
        "The part of calls that was estimated: after 128 returns of less than rule.large_bytes, a thread has one in "
        "each 32 examined, chosen at random, which stands for 32.",
        kLater);
  FIELD(std::vector<ReturnedBy>, rows,
        "By the call during which it happened, and by the mechanism; those that did not happen are left out.");
  FIELD(LowHigh, interval_bytes, "If calls were estimated: the 95 % confidence interval of bytes.");
};

struct Metrics : Zeroing {
  RESULT("figures", "Metrics of threads.");
  FIELD(Count, calloc_calls, "Calls of calloc, including those that failed.");
  FIELD(Count, requested_bytes, "Bytes requested from calloc.");
  BASE_FIELDS(Zeroing);
  FIELD(Count, malloc_calls, "Calls of malloc, posix_memalign, aligned_alloc and memalign.");
  FIELD(Count, malloc_bytes, "Bytes requested from them.");
  FIELD(Count, realloc_calls, "Calls of realloc.");
  FIELD(Count, realloc_bytes, "Bytes requested from realloc.");
  FIELD(Zeroing, by_hand,
        "Zeroing by the program itself: the next memset of zeros on the thread after malloc or realloc, over a part of "
        "the block that it returned.");
  FIELD(Zeroing, by_program,
        "The same for zeros that the program stored by memset and its siblings over any other memory. Zeros stored in "
        "another way (inline, rep stos, code made at run time) are not seen: a lower bound.",
        kLater);
  FIELD(SmallSamples, small_samples,
        "Stores of less than rule.large_bytes whose contents were examined, as a sample of the others.");
  FIELD(UnseenCalls, unseen,
        "Callocs of rule.large_bytes or more that returned a mostly populated block although memset had written less "
        "than half of it: zeroed by other stores, or known to the allocator to be zero.");
  FIELD(Zeroing, in_free, "Zeroing by the allocator inside free and its siblings; not part of zeroed_bytes.", kLater);
  FIELD(Count, free_calls, "Calls of free and its siblings with a block.", kLater);
  FIELD(Returned, returned, "Memory returned to the kernel.", kLater);
  FIELD(Count, offered_bytes,
        "Populated bytes under madvise(MADV_FREE): the kernel takes them when it needs memory. Not part of returned.",
        kLater);
  FIELD(HugeBlocks, huge_blocks,
        "Large blocks in huge pages, examined when they were freed: the first sixteen of a thread, then the 32nd, 64th "
        "and so on.",
        kLater);
  FIELD(std::uint64_t, own_ns,
        "Nanoseconds that the recorder spent examining pages, contents and call stacks; the shares are not corrected "
        "for them.");
  FIELD(std::uint64_t, own_cpu_ns, "CPU nanoseconds that the recorder spent examining pages, contents and call stacks.",
        kLater);
  Count mapping_calls;  ///< not in the document
  std::uint64_t by_hand_aligned_bytes =
      0;  ///< of by_hand.timed_zeroed_bytes: in over-aligned blocks; not in the document
  Count zeroed_in_calloc_bytes = std::uint64_t{0};  ///< of zeroed_bytes; not in the document
};

struct KernelMetrics {
  RESULT("kernel",
         "What the kernel zeroed for a process: the anonymous memory that it held at its end and had returned before, "
         "minus what it took over at a fork and its copies of pages of files. If its end was not seen, the least is "
         "what it held and had returned at the last look from outside, and the most is a page for each of its faults; "
         "the other metrics are n/a if these bounds are further apart than a fiftieth. Of several processes: sums.");
  FIELD(Count, zeroed_bytes, "Kernel-zeroed bytes: of pages that zero-fill faults populated.");
  FIELD(Count, huge_bytes, "The part of zeroed_bytes in huge pages.");
  FIELD(Count, fresh_bytes,
        "The part of zeroed_bytes that the process had never held before: zeroed_bytes - refilled_bytes.");
  FIELD(
      Count, refilled_bytes,
      "The part of zeroed_bytes beyond peak_bytes: memory that the process once had, returned, and had zeroed again.");
  FIELD(Count, returned_bytes,
        "Populated anonymous bytes returned to the kernel by munmap, madvise, brk, mremap and mmap over memory, by "
        "whomever.");
  FIELD(Count, peak_bytes,
        "The most anonymous memory that the process held; of several processes the sum. From outside: the most at a "
        "look, an estimate.");
  FIELD(Count, zero_fill_faults,
        "Zero-fill faults: one a page or huge page of zeroed_bytes, and never more than minor_faults.");
  FIELD(Count, minor_faults,
        "Minor faults of every kind by the kernel's count, without the recorder's own measurements and those of the "
        "programs that the process was before.");
  FIELD(std::uint64_t, minor_faults_at_least, "minor_faults, or as many as were seen.");
  FIELD(LowHigh, zeroed_interval_bytes,
        "If returns were estimated (returned.sampled_calls): the 95 % confidence interval of zeroed_bytes. "
        "refilled_bytes and returned_bytes are as uncertain.");
  FIELD(Count, fault_cpu_ns, "CPU nanoseconds to populate zeroed_bytes: an estimate, bytes times tax.fault_cost.");
  FIELD(std::uint64_t, zeroed_at_least_bytes,
        "The least that zeroed_bytes can be; if zeroed_bytes is an estimate from samples (outside.zeroed_by), the "
        "lower end of its 95 % confidence interval.");
  FIELD(Count, zeroed_at_most_bytes,
        "The most that zeroed_bytes can be: each page fault counts as a zeroed page unless it is known to have "
        "populated something else.");
  FIELD(LowHigh, refilled_interval_bytes,
        "From outside: refilled_bytes, the least, and the most that they can be, as zeroed_bytes, and the peak of what "
        "the processes held between two looks, are known only within bounds.");
};

struct Totals : Metrics {
  RESULT("totals");
  BASE_FIELDS(Metrics);
  FIELD(KernelMetrics, kernel, "The kernel's part, of all processes whose end was seen.", kLater);
  FIELD(Measured<double>, share_of_wall,
        "The largest share of the run's wall time that any one thread spent in stores of zeros of rule.large_bytes or "
        "more, the time of that thread under the recorder left out of the wall time. n/a if threads that had ended "
        "were added up.",
        most(1));
  FIELD(Measured<double>, share_of_cpu, "CPU time of all such stores as a share of tax.cpu_ns.", most(1));
};

struct SizeRow {
  RESULT("row", "One power of two.");
  FIELD(std::uint64_t, from_bytes, "Smallest size, in bytes.");
  FIELD(std::uint64_t, below_bytes, "One past the largest size, in bytes.", least(1));
  FIELD(std::uint64_t, calloc_calls, "Calls of calloc.");
  FIELD(std::uint64_t, requested_bytes, "Bytes requested from calloc.");
  FIELD(std::uint64_t, malloc_calls, "Calls of malloc and the aligned functions.");
  FIELD(std::uint64_t, realloc_calls, "Calls of realloc.");
  FIELD(std::uint64_t, zeroed_bytes, "Bytes that the allocator zeroed in calls for this size.");
  FIELD(Count, redundant_zeroed_bytes, "The redundant part of the bytes that were examined.");
  FIELD(std::uint64_t, by_hand_zeroed_bytes, "Bytes that the program zeroed by hand, in stores of this size.");
  FIELD(Count, by_hand_redundant_zeroed_bytes, "The redundant part of the bytes that were examined.");
  FIELD(std::optional<std::uint64_t>, unpopulated_blocks,
        "Blocks of this size, from rule.large_bytes on, that were not wholly populated when the program got them.");
  FIELD(std::optional<std::uint64_t>, kernel_zeroed_bytes,
        "Bytes of those blocks that were populated while the program had them.");
  FIELD(std::optional<std::uint64_t>, refilled_bytes,
        "The part of kernel_zeroed_bytes in place of memory that had been returned before.");
  FIELD(std::optional<std::uint64_t>, returned_bytes,
        "Bytes that the calls which freed those blocks returned to the kernel.");
};

/// Why a thread's CPU time is unknown.
inline constexpr const char* kNoCpuClock = "the program may not read the clock of its CPU time";

/// Over the sizes.
template <typename Row>
Row sum_of(const Row (&rows)[kClasses]) {
  Row all{};
  for (const Row& row : rows) all.add(row);
  return all;
}

/// By how much an estimate may be too high and too low: 95 % confidence, in bytes.
struct Interval {
  std::uint64_t below = 0;
  std::uint64_t above = 0;

  /// What it makes of an estimate.
  [[nodiscard]] LowHigh around(std::uint64_t bytes) const;
};

/// Of the bytes that were returned to the kernel in small parts: 0 and 0 if all of them were looked at.
Interval returned_interval(const SmallReturns& small);

/// Small stores are neither timed nor examined: where there were no others, time and redundancy are n/a.
Metrics metrics_of(const Tally& tally);

/// A row for each power of two that was called for.
std::vector<SizeRow> histogram_of(const Tally& tally);

/// Of the large stores of zeros, the program's own included.
ZeroCost zeroing_cost(const Tally& tally);

/// Bytes zeroed, by the program itself, too.
std::uint64_t zeroed_bytes(const Tally& tally);

}  // namespace zerotax::record
