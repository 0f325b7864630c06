#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace zerotax {

/// Data exchanged between the driver and a probe, in a shared memory file. The driver writes the request. The probe
/// writes everything else while it runs, so that the finished operations of a killed probe remain.

inline constexpr std::size_t kMaxOps = 100'000;
inline constexpr std::size_t kSyscallKinds = 24;
inline constexpr std::size_t kReasonBytes = 128;

/// A count or time that was not measured. The reason is in the sample block.
inline constexpr std::int64_t kNotMeasured = INT64_MIN;

/// A pass over a point, made by a separate process.
enum class Pass : std::uint32_t {
  kTiming,        ///< times and fault counts, while nothing else is active in the process
  kZeroing,       ///< the time of every memset to zero inside calloc
  kAudit,         ///< zeroed bytes, redundant zeroed bytes, system calls, contents; times are meaningless
  kDifferential,  ///< alternating malloc and calloc, a second opinion on zero_ns
  kBare,          ///< times only at both ends of the run, to find the cost of the meter itself
  kFaults,        ///< for a case that forks, the class of each fault after the fork; times are meaningless
  kLoop,          ///< only the calls, between two readings of each clock and counter (Loop)
  kHeld,          ///< memory that the process holds; the times of this pass are meaningless
};

/// The last recorded phase of the probe. After a crash or hang, this is the phase in which it occurred.
enum class Phase : std::uint32_t {
  kStart,
  kSetUp,
  kCalloc,
  kCheck,
  kTouch,
  kReceive,
  kFork,
  kFree,
  kBetween,
  kTransfer,
  kDone
};

enum class Thread : std::uint32_t { kMain, kWorker };

/// The time that the allocator reads inside its calls (meter/allocator_clock.h).
enum class ClockMode : std::uint32_t {
  kReal,
  kStopped,  ///< no time passes between readings, so the allocator does no time-driven work
  kRacing,   ///< a minute passes between readings, so the allocator does all its time-driven work
};

struct Request {
  std::uint64_t magic;
  Pass pass;
  char case_name[32];
  std::uint64_t size_bytes;
  double touch;  ///< fraction of pages, 0 to 1
  Thread thread;
  std::uint32_t ops;       ///< maximum number of operations
  std::uint32_t min_ops;   ///< minimum number of operations, whatever the budget
  std::int64_t budget_ns;  ///< time after which no further operation begins; 0 means no limit
  ClockMode clock;
  std::int64_t pause_ns;  ///< time slept before each calloc and free, outside of all measurements
};

struct SyscallCount {
  std::uint32_t number;
  std::uint32_t calls;
};

/// System calls during one call to the allocator.
struct SyscallTally {
  SyscallCount kinds[kSyscallKinds];
  std::uint32_t used;
  std::uint32_t incomplete;  ///< 1 if a thread or process was started, because that ends the counting
};

/// Bits of OpSample::methods, each a method that can find zeroed bytes.
inline constexpr std::uint32_t kByMemset = 1;
inline constexpr std::uint32_t kByInline = 2;

/// The first writes of a process after a fork, one per page. Times are in nanoseconds.
struct WriteSample {
  std::int64_t write_ns;
  std::int64_t faults;  ///< minor faults of the writing thread
  // Faults of the writes, by class (faults pass):
  std::int64_t copies;
  std::int64_t reuses;
  std::int64_t zero_fills;
  std::int64_t other;  ///< further faults of one write, and faults on swapped pages
};

/// The fork of an operation, and the measured events after the fork.
struct ForkSample {
  std::int64_t fork_ns;           ///< time of fork() in the parent
  std::int64_t exit_ns;           ///< time from telling the child to exit until waitpid returns
  std::int64_t populated_bytes;   ///< populated bytes of the block, in whole pages, at the fork
  std::int64_t page_table_bytes;  ///< page tables for all of the child's memory, right after the fork
  WriteSample child;
  WriteSample parent;
};

/// One operation. Times are in nanoseconds. A metric is kNotMeasured if this pass does not measure it.
struct OpSample {
  std::int64_t calloc_ns;
  std::int64_t touch_ns;
  std::int64_t free_ns;
  std::int64_t malloc_ns;  ///< measured only by the differential pass
  std::int64_t zero_ns;
  std::int64_t zeroed_bytes;
  std::int64_t redundant_zeroed_bytes;
  std::int64_t populated_bytes;
  std::int64_t touch_populated_bytes;  ///< bytes of the block in pages that the program's writes populated
  std::int64_t requested_bytes;        ///< bytes of all blocks of the operation
  // Metrics of the whole process, over allocations, touching and free (meter/page_account.h):
  std::int64_t kernel_zeroed_bytes;
  std::int64_t refilled_bytes;
  std::int64_t returned_bytes;
  std::int64_t returned_by_munmap_bytes;
  std::int64_t returned_by_madvise_bytes;
  std::int64_t returned_by_brk_bytes;
  std::int64_t zero_page_faults;  ///< reads of the program that mapped the shared zero page
  std::int64_t zero_in_free_ns;   ///< time in free that was spent on zeroing
  std::int64_t zeroed_in_free_bytes;
  std::int64_t redundant_zeroed_in_free_bytes;
  std::int64_t calloc_faults;
  std::int64_t touch_faults;
  std::int64_t free_faults;
  std::int64_t received_bytes;  ///< bytes received; only for a case that receives
  // Anonymous memory of the process (held pass):
  std::int64_t held_bytes;             ///< memory before the first free
  std::int64_t held_huge_bytes;        ///< part of held_bytes in huge pages
  std::int64_t held_after_free_bytes;  ///< memory after the last free
  ForkSample fork;                     ///< measurements of the fork; only for a case that forks
  SyscallTally calloc_syscalls;
  SyscallTally free_syscalls;
  std::uint32_t methods;          ///< how zeroed_bytes were seen
  std::uint32_t free_methods;     ///< how zeroed_in_free_bytes were seen
  std::uint32_t misaligned;       ///< alignment in bytes of a block that calloc aligned too little; 0 if there is none
  std::uint32_t in_heap;          ///< 1 if the block is in memory grown by brk
  std::uint32_t not_zero;         ///< 1 if the block contained a non-zero byte
  std::uint64_t not_zero_offset;  ///< offset of the first non-zero byte
};

/// The metrics of an operation in any pass, except the metrics of its fork.
inline constexpr std::int64_t OpSample::*kOpFigures[]{&OpSample::calloc_ns,
                                                      &OpSample::touch_ns,
                                                      &OpSample::free_ns,
                                                      &OpSample::malloc_ns,
                                                      &OpSample::zero_ns,
                                                      &OpSample::zeroed_bytes,
                                                      &OpSample::redundant_zeroed_bytes,
                                                      &OpSample::populated_bytes,
                                                      &OpSample::touch_populated_bytes,
                                                      &OpSample::requested_bytes,
                                                      &OpSample::kernel_zeroed_bytes,
                                                      &OpSample::refilled_bytes,
                                                      &OpSample::returned_bytes,
                                                      &OpSample::returned_by_munmap_bytes,
                                                      &OpSample::returned_by_madvise_bytes,
                                                      &OpSample::returned_by_brk_bytes,
                                                      &OpSample::zero_page_faults,
                                                      &OpSample::zero_in_free_ns,
                                                      &OpSample::zeroed_in_free_bytes,
                                                      &OpSample::redundant_zeroed_in_free_bytes,
                                                      &OpSample::calloc_faults,
                                                      &OpSample::touch_faults,
                                                      &OpSample::free_faults,
                                                      &OpSample::received_bytes,
                                                      &OpSample::held_bytes,
                                                      &OpSample::held_huge_bytes,
                                                      &OpSample::held_after_free_bytes};

/// The loop at the end of the timing pass of a case that receives. The loop runs operations without any meter, between
/// two readings of each clock and counter.
struct Transfer {
  std::int64_t ops;  ///< 0 if the loop did not run
  std::int64_t received_bytes;
  std::int64_t wall_ns;
  std::int64_t cpu_ns;  ///< CPU time of the thread
  std::int64_t faults;  ///< minor faults of the thread, or kNotMeasured
};

/// Result of the loop pass: the thread's clocks and counters over all operations.
struct Loop {
  std::int64_t ops;  ///< 0 if the loop was not completed
  std::int64_t wall_ns;
  std::int64_t user_ns;    ///< CPU time in user mode
  std::int64_t kernel_ns;  ///< CPU time in the kernel
  std::int64_t faults;     ///< minor faults
  std::int64_t voluntary_switches;
  std::int64_t involuntary_switches;
  std::int64_t cycles;  ///< cycles of the processor, or kNotMeasured
};

/// Minimum duration of a transfer's loop. In 100 ms, a record of 16 KiB is received some ten thousand times.
inline constexpr std::int64_t kTransferNs = 100'000'000;

/// Stores a reason in the sample block, cut to the length of the field.
template <std::size_t N>
void say(char (&reason)[N], const char* text) {
  std::snprintf(&reason[0], N, "%s", text);
}

struct SampleBlock {
  Request request;

  Phase phase;
  std::uint32_t ops_started;
  std::uint32_t ops_done;
  std::uint32_t returned_null;  ///< errno of a calloc that returned NULL
  std::int64_t run_ns;          ///< duration of the second half of the operations, in one loop (bare pass, which
                                ///< measures nothing else)
  std::int64_t run_ops;         ///< number of operations in `run_ns`
  std::uint32_t got_slots;      ///< GOT slots hooked
  std::uint32_t receives;       ///< 1 if the case receives
  std::uint32_t forks;          ///< 1 if the case forks
  std::uint32_t mallocs;        ///< 1 if the case allocates with malloc, not with calloc
  std::uint32_t by_frame;  ///< 1 if page frame numbers distinguished copies from reuses, 0 if exclusive mapping did
  Transfer transfer;
  Loop loop;
  char failure[kReasonBytes];  ///< why the case could not be set up or continued; empty without a failure
  // Reasons why a metric is kNotMeasured in this pass; empty if it is measured.
  char na_zeroed[kReasonBytes];
  char na_redundant[kReasonBytes];
  char na_inline[kReasonBytes];              ///< why stores to memory that was populated before are unknown, except
                                             ///< stores by memset
  char na_unseen[2 * kReasonBytes];          ///< why zeroed_bytes of single operations are unknown
  char na_unseen_in_free[2 * kReasonBytes];  ///< why zeroed_in_free_bytes of single operations are unknown
  char na_zero_ns[kReasonBytes];
  char na_zero_in_free_ns[kReasonBytes];
  char na_populated[kReasonBytes];
  char na_pages[kReasonBytes];             ///< why kernel-zeroed, refilled and returned bytes are unknown
  char na_unseen_pages[2 * kReasonBytes];  ///< why single operations lack the metrics of na_pages
  char na_zero_page[kReasonBytes];         ///< why zero_page_faults are unknown
  char na_syscalls[kReasonBytes];
  char na_faults[kReasonBytes];
  char na_classes[kReasonBytes];      ///< why copies, reuses and zero-fills after a fork are unknown
  char na_cycles[kReasonBytes];       ///< why cycles of the loop are unknown
  char na_page_tables[kReasonBytes];  ///< why the child's page tables are unknown
  char na_held[kReasonBytes];         ///< why the memory held is unknown

  OpSample ops[1];  ///< array of recorded(request) elements

  /// Returns the number of elements of `ops` for a request. The loop pass records none.
  static constexpr std::size_t recorded(const Request& request) {
    return request.pass == Pass::kLoop ? 0 : request.ops;
  }

  static constexpr std::size_t bytes(std::size_t ops) {
    return sizeof(SampleBlock) + (ops > 0 ? ops - 1 : 0) * sizeof(OpSample);
  }
};

/// Identifies the layout, because a driver and a probe must come from the same build. Contains "ZT", the layout's
/// version, and the sizes of its parts.
inline constexpr std::uint64_t kSampleBlockMagic =
    0x5a54'0007'0000'0000 | (std::uint64_t{sizeof(SampleBlock)} << 16) | std::uint64_t{sizeof(OpSample)};

/// Exit status of a probe whose sample block comes from another build, or names an unknown case.
inline constexpr int kWrongSampleBlock = 64;

/// Exit status of a probe whose case could not be set up or continued. SampleBlock::failure has the reason.
inline constexpr int kCaseFailed = 65;

}  // namespace zerotax
