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
  RESULT("zeroing", "Counts and times of stores of zeros.");
  FIELD(Count, zeroing_stores, "Number of calls to memset and its siblings that wrote zeros.");
  FIELD(Count, zeroed_bytes, "Bytes zeroed by zeroing_stores.");
  FIELD(Count, redundant_zeroed_bytes,
        "The part of examined_zeroed_bytes that was already zero: bytes on unpopulated pages, and bytes on pages "
        "that contained only zeros within the store.");
  FIELD(std::uint64_t, examined_zeroed_bytes,
        "The part of zeroed_bytes in stores of rule.large_bytes or more whose pages and contents were examined "
        "just before the store. In by_program: the first 64 stores of each thread, then samples.");
  FIELD(Count, zero_ns,
        "Nanoseconds inside the stores of rule.large_bytes or more (timed_zeroed_bytes), including faults.");
  FIELD(Count, zero_cpu_ns, "CPU nanoseconds of the threads inside the timed stores, including faults.", kLater);
  FIELD(Count, zero_faults, "Minor faults of the threads inside the timed stores.");
  FIELD(std::uint64_t, timed_zeroed_bytes, "The part of zeroed_bytes in stores that were timed.");
};

struct SmallSamples {
  RESULT("small samples");
  FIELD(std::uint64_t, stores, "Number of examined small stores.");
  FIELD(std::uint64_t, bytes, "Bytes zeroed by the examined small stores.");
  FIELD(std::uint64_t, redundant_bytes, "The part of `bytes` on pages that contained only zeros within the store.");
};

struct UnseenCalls {
  RESULT("unseen calls");
  FIELD(std::uint64_t, calls, "Number of calls to calloc whose zeros memset did not write.");
  FIELD(std::uint64_t, populated_bytes,
        "Populated bytes of the blocks that unseen calls returned, minus the bytes that memset wrote.");
};

struct HugeBlocks {
  RESULT("huge blocks");
  FIELD(std::uint64_t, freed, "Number of examined large blocks in huge pages.");
  FIELD(std::uint64_t, examined_bytes, "Populated bytes of the examined blocks, all zeroed by the kernel.");
  FIELD(std::uint64_t, written_bytes,
        "The part of examined_bytes in pages that are not all zero, because the program wrote to them.");
};

/// The lowest and highest value of a number of bytes that is, or includes, an estimate.
using LowHigh = std::optional<std::array<std::uint64_t, 2>>;

struct ReturnedBy : ReturnRow {
  RESULT("returned by");
  FIELD(ReturnCause, by,
        "The call during which memory was returned. `allocation`: malloc, calloc or an aligned function. `purge`:"
        " the allocator returned the memory outside such a call, as in malloc_trim. `program`: the program itself "
        "returned the "
        "memory.");
  FIELD(Mechanism, mechanism, "The system call. mremap and mmap return the memory that they cut off or replace.");
  MEMBER(calls, "Number of system calls of this row.");
  MEMBER(bytes, "Bytes returned by the system calls of this row.");
  MEMBER(cpu_ns, "CPU nanoseconds inside the system calls of this row.");
};

struct Returned {
  RESULT("returned", "Populated anonymous memory returned to the kernel.");
  FIELD(Count, calls, "System calls that returned memory to the kernel.");
  FIELD(Count, bytes, "Bytes that system calls returned to the kernel.");
  FIELD(Count, cpu_ns, "CPU nanoseconds inside system calls that returned memory to the kernel.");
  FIELD(std::uint64_t, sampled_calls,
        "The part of calls that was estimated. After 128 returns of less than rule.large_bytes, one of each 32 returns "
        "of a thread is examined, chosen at random, and counts as 32.",
        kLater);
  FIELD(std::vector<ReturnedBy>, rows,
        "Returned memory by the call during which it was returned, and by mechanism. Combinations that did not "
        "happen are left out.");
  FIELD(LowHigh, interval_bytes, "The 95 % confidence interval of bytes, if calls were estimated.");
};

struct Metrics : Zeroing {
  RESULT("figures", "Metrics of a thread, or sums over threads.");
  FIELD(Count, calloc_calls, "Calls to calloc, including failed calls.");
  FIELD(Count, requested_bytes, "Bytes requested from calloc.");
  BASE_FIELDS(Zeroing);
  FIELD(Count, malloc_calls, "Calls to malloc, posix_memalign, aligned_alloc and memalign.");
  FIELD(Count, malloc_bytes, "Bytes requested from malloc, posix_memalign, aligned_alloc and memalign.");
  FIELD(Count, realloc_calls, "Number of calls to realloc.");
  FIELD(Count, realloc_bytes, "Bytes requested from realloc.");
  FIELD(Zeroing, by_hand,
        "Zeroing by the program itself: the next memset of zeros on the thread after malloc or realloc, over a "
        "part of the returned block.");
  FIELD(Zeroing, by_program,
        "Zeros that the program stored by memset and its siblings over any other memory. This is a lower "
        "bound, because zeros stored in another way (inline, rep stos, code made at run time) are not seen.",
        kLater);
  FIELD(SmallSamples, small_samples,
        "Stores of less than rule.large_bytes whose contents were examined as a sample of all small stores.");
  FIELD(UnseenCalls, unseen,
        "Callocs of rule.large_bytes or more that returned a mostly populated block although memset had written "
        "less than half of it. Other stores zeroed the block, or the allocator knew that the block was zero.");
  FIELD(Zeroing, in_free, "Zeroing by the allocator inside free and its siblings; not part of zeroed_bytes.", kLater);
  FIELD(Count, free_calls, "Calls to free and its siblings for a block.", kLater);
  FIELD(Returned, returned, "Memory returned to the kernel.", kLater);
  FIELD(Count, offered_bytes,
        "Populated bytes under madvise(MADV_FREE), which the kernel reclaims when it needs memory. Not part of "
        "`returned`.",
        kLater);
  FIELD(HugeBlocks, huge_blocks,
        "Large blocks in huge pages that were examined when they were freed: the first sixteen of a thread, then "
        "the 32nd, 64th and so on.",
        kLater);
  FIELD(std::uint64_t, own_ns,
        "Nanoseconds that the recorder spent examining pages, contents and call stacks. share_of_wall and "
        "share_of_cpu are not corrected for this time.");
  FIELD(std::uint64_t, own_cpu_ns, "CPU nanoseconds that the recorder spent examining pages, contents and call stacks.",
        kLater);
  std::uint64_t trimmed_bytes = 0;  ///< bytes returned in calls to malloc_trim; not in the document
  Count mapping_calls;              ///< not in the document
  std::uint64_t aligned_bytes = 0;  ///< bytes requested with more than malloc's alignment; not in the document
  std::uint64_t by_hand_aligned_bytes =
      0;  ///< bytes of by_hand.timed_zeroed_bytes in over-aligned blocks; not in the document
  Count zeroed_in_calloc_bytes = std::uint64_t{0};  ///< the part of zeroed_bytes inside calloc; not in the document
};

struct KernelMetrics {
  RESULT("kernel",
         "Memory that the kernel zeroed for a process: the anonymous memory that the process held at its end, "
         "plus the memory that it had returned before, without memory taken over at a fork and copies of file "
         "pages. If the end was not seen, zeroed_bytes has bounds. The lower bound is the memory held and "
         "returned at the last sample from outside. The upper bound is one page for each fault. The other metrics"
         " are n/a if the bounds differ by more than a fiftieth. For several processes, the metrics are sums.");
  FIELD(Count, zeroed_bytes, "Bytes of the pages that zero-fill faults populated.");
  FIELD(Count, huge_bytes, "The part of zeroed_bytes in huge pages.");
  FIELD(Count, fresh_bytes,
        "The part of zeroed_bytes that the process had never held before (zeroed_bytes - refilled_bytes).");
  FIELD(Count, refilled_bytes,
        "The part of zeroed_bytes beyond peak_bytes: memory that the process once had, returned, and had zeroed "
        "again.");
  FIELD(Count, returned_bytes,
        "Populated anonymous bytes returned to the kernel by munmap, madvise, brk, mremap, or mmap over existing "
        "memory, by the allocator or the program.");
  FIELD(Count, peak_bytes,
        "Maximum anonymous memory that the process held, in bytes; for several processes, the sum of their maxima. "
        "Without zerotax's library, an estimate: the maximum over all samples.");
  FIELD(Count, zero_fill_faults,
        "Zero-fill faults, one for each page or huge page of zeroed_bytes; never more than minor_faults.");
  FIELD(Count, minor_faults,
        "Minor faults of every kind, as the kernel counts them. Faults of the recorder's own measurements, and of"
        " programs that the process ran before, are left out.");
  FIELD(std::uint64_t, minor_faults_at_least,
        "Value of minor_faults; if that is unknown, the number of faults that were seen.");
  FIELD(LowHigh, zeroed_interval_bytes,
        "The 95 % confidence interval of zeroed_bytes, if returns were estimated (returned.sampled_calls). "
        "refilled_bytes and returned_bytes are equally uncertain.");
  FIELD(Count, fault_cpu_ns, "Estimated CPU nanoseconds to populate zeroed_bytes: bytes times tax.fault_cost.");
  FIELD(std::uint64_t, zeroed_at_least_bytes,
        "Lower bound of zeroed_bytes. If zeroed_bytes is an estimate from samples (outside.zeroed_by), the lower "
        "end of its 95 % confidence interval.");
  FIELD(Count, zeroed_at_most_bytes,
        "Upper bound of zeroed_bytes. Each page fault counts as a zeroed page, unless the fault is known to have "
        "populated something else.");
  FIELD(LowHigh, refilled_interval_bytes,
        "Bounds of refilled_bytes for a program recorded without zerotax's library. Its zeroed_bytes, and the peak of "
        "its memory between two samples, are known only within bounds.");
};

struct Totals : Metrics {
  RESULT("totals");
  BASE_FIELDS(Metrics);
  FIELD(KernelMetrics, kernel, "Sums of the kernel's metrics over all processes whose end was seen.", kLater);
  FIELD(Measured<double>, share_of_wall,
        "The largest share of the run's wall time that any one thread spent in stores of zeros of "
        "rule.large_bytes or more. The recorder's own time in that thread is left out of the wall time. n/a if "
        "the times of ended threads were added up.",
        most(1));
  FIELD(Measured<double>, share_of_cpu,
        "CPU time of all stores of zeros of rule.large_bytes or more, as a share of tax.cpu_ns.", most(1));
};

struct SizeRow {
  RESULT("row", "Calls and bytes of one size class, from one power of two to the next.");
  FIELD(std::uint64_t, from_bytes, "Smallest size of the row, in bytes.");
  FIELD(std::uint64_t, below_bytes, "Size in bytes below which all sizes of this row lie.", least(1));
  FIELD(std::uint64_t, calloc_calls, "Number of calls to calloc.");
  FIELD(std::uint64_t, requested_bytes, "Bytes requested from calloc.");
  FIELD(std::uint64_t, malloc_calls, "Calls to malloc and the aligned functions.");
  FIELD(std::uint64_t, realloc_calls, "Number of calls to realloc.");
  FIELD(std::uint64_t, zeroed_bytes, "Bytes that the allocator zeroed in calls for this row's sizes.");
  FIELD(Count, redundant_zeroed_bytes, "The redundant part of zeroed_bytes, among the bytes that were examined.");
  FIELD(std::uint64_t, by_hand_zeroed_bytes, "Bytes that the program zeroed by hand, in stores of this row's sizes.");
  FIELD(Count, by_hand_redundant_zeroed_bytes,
        "The redundant part of by_hand_zeroed_bytes, among the bytes that were examined.");
  FIELD(std::optional<std::uint64_t>, unpopulated_blocks,
        "Blocks of this row's sizes, from rule.large_bytes on, that were not fully populated when the program got"
        " them.");
  FIELD(std::optional<std::uint64_t>, kernel_zeroed_bytes,
        "Bytes of the unpopulated_blocks that were populated while the program had the blocks.");
  FIELD(std::optional<std::uint64_t>, refilled_bytes,
        "The part of kernel_zeroed_bytes in place of memory that had been returned before.");
  FIELD(std::optional<std::uint64_t>, returned_bytes,
        "Bytes that were returned to the kernel by the calls that freed the unpopulated_blocks.");
};

/// Reason why a thread's CPU time is unknown.
inline constexpr const char* kNoCpuClock = "the program may not read its CPU clock";

/// Returns the sum of the rows of all sizes.
template <typename Row>
Row sum_of(const Row (&rows)[kClasses]) {
  Row all{};
  for (const Row& row : rows) all.add(row);
  return all;
}

/// Distances from an estimate to the ends of its 95 % confidence interval, in bytes.
struct Interval {
  std::uint64_t below = 0;
  std::uint64_t above = 0;

  /// Returns the interval around an estimate.
  [[nodiscard]] LowHigh around(std::uint64_t bytes) const;
};

/// Returns the interval of the bytes that were returned in small parts; 0 and 0 if all of these returns were examined.
Interval returned_interval(const SmallReturns& small);

/// Returns the metrics of a tally. Without large stores, time and redundancy are n/a, because small stores are neither
/// timed nor examined for redundancy.
Metrics metrics_of(const Tally& tally);

/// Returns a row for each size class with calls.
std::vector<SizeRow> histogram_of(const Tally& tally);

/// Returns the cost of all large stores of zeros by the allocator and the program.
ZeroCost zeroing_cost(const Tally& tally);

/// Returns the bytes zeroed by the allocator and by the program itself.
std::uint64_t zeroed_bytes(const Tally& tally);

}  // namespace zerotax::record
