#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace zerotax {

/// What crosses the border between the driver and a probe: plain data in a shared memory file. The driver writes the
/// request; the probe writes the rest as it goes, so that a probe that is killed still leaves every operation it
/// finished.

inline constexpr std::size_t kMaxOps = 100'000;
inline constexpr std::size_t kSyscallKinds = 24;
inline constexpr std::size_t kReasonBytes = 128;

/// A count or time that was not measured; its reason is in the sample block.
inline constexpr std::int64_t kNotMeasured = INT64_MIN;

/// One process makes one pass over a point.
enum class Pass : std::uint32_t {
  kTiming,        ///< clocks and fault counters, nothing else in the process
  kZeroing,       ///< a clock around every memset to zero inside calloc
  kAudit,         ///< what was zeroed, was it redundant, system calls, contents; times mean nothing
  kDifferential,  ///< malloc and calloc in turn: a second opinion on zero_ns
  kBare,          ///< no clock but at both ends of the run: what the meter itself adds
  kFaults,        ///< of a case that forks: what each fault after the fork was; no time means anything
  kLoop,          ///< nothing but the calls, between two readings of each clock and counter (Loop)
  kHeld,          ///< memory that the process holds; no time means anything
};

/// Where the probe was when it last wrote: shows what a crash or hang interrupted.
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
  kStopped,  ///< no time passes: the allocator does no time-driven work
  kRacing,   ///< a minute passes from one reading to the next: it does all such work
};

struct Request {
  std::uint64_t magic;
  Pass pass;
  char case_name[32];
  std::uint64_t size_bytes;
  double touch;  ///< fraction of pages, 0 to 1
  Thread thread;
  std::uint32_t ops;       ///< at most
  std::uint32_t min_ops;   ///< at least, whatever the budget
  std::int64_t budget_ns;  ///< no further operation is begun after this time; 0: no limit
  ClockMode clock;
  std::int64_t pause_ns;  ///< slept before each calloc and free, outside of all that is measured
};

struct SyscallCount {
  std::uint32_t number;
  std::uint32_t calls;
};

/// System calls inside one call of the allocator.
struct SyscallTally {
  SyscallCount kinds[kSyscallKinds];
  std::uint32_t used;
  std::uint32_t incomplete;  ///< 1: a thread or process was started, and nothing was counted after it
};

/// The bits of OpSample::methods: how zeroed bytes were seen.
inline constexpr std::uint32_t kByMemset = 1;
inline constexpr std::uint32_t kByInline = 2;

/// The first writes of a process after a fork, one to a page. Times in nanoseconds.
struct WriteSample {
  std::int64_t write_ns;
  std::int64_t faults;  ///< minor, of the thread that writes
  // Each fault of the writes by what it was (faults pass):
  std::int64_t copies;
  std::int64_t reuses;
  std::int64_t zero_fills;
  std::int64_t other;  ///< more than one fault for a write, or a page that was swapped
};

/// The fork of an operation, and what came after.
struct ForkSample {
  std::int64_t fork_ns;           ///< fork(), in the parent
  std::int64_t exit_ns;           ///< from telling the child to exit until waitpid returns
  std::int64_t populated_bytes;   ///< of the block, in whole pages, at the fork
  std::int64_t page_table_bytes;  ///< of the child, all of it, right after the fork
  WriteSample child;
  WriteSample parent;
};

/// One operation. Times in nanoseconds, metrics kNotMeasured where this pass does not measure them.
struct OpSample {
  std::int64_t calloc_ns;
  std::int64_t touch_ns;
  std::int64_t free_ns;
  std::int64_t malloc_ns;  ///< differential pass only
  std::int64_t zero_ns;
  std::int64_t zeroed_bytes;
  std::int64_t redundant_zeroed_bytes;
  std::int64_t populated_bytes;
  std::int64_t touch_populated_bytes;  ///< of the block, in pages that the program's writes populated
  std::int64_t requested_bytes;        ///< of all blocks of the operation
  // Of the whole process, by an allocation, the touching and a free alike (meter/page_account.h):
  std::int64_t kernel_zeroed_bytes;
  std::int64_t refilled_bytes;
  std::int64_t returned_bytes;
  std::int64_t returned_by_munmap_bytes;
  std::int64_t returned_by_madvise_bytes;
  std::int64_t returned_by_brk_bytes;
  std::int64_t zero_page_faults;  ///< reads of the program that mapped the shared zero page
  std::int64_t zero_in_free_ns;   ///< as zero_ns, inside free
  std::int64_t zeroed_in_free_bytes;
  std::int64_t redundant_zeroed_in_free_bytes;
  std::int64_t calloc_faults;
  std::int64_t touch_faults;
  std::int64_t free_faults;
  std::int64_t received_bytes;  ///< by a case that receives
  // Anonymous memory of the process (held pass):
  std::int64_t held_bytes;             ///< before the first free
  std::int64_t held_huge_bytes;        ///< those of them in huge pages
  std::int64_t held_after_free_bytes;  ///< after the last free
  ForkSample fork;                     ///< of a case that forks
  SyscallTally calloc_syscalls;
  SyscallTally free_syscalls;
  std::uint32_t methods;       ///< of zeroed_bytes
  std::uint32_t free_methods;  ///< of zeroed_in_free_bytes
  std::uint32_t misaligned;    ///< the alignment in bytes of a block that calloc aligned to less than it must; 0: none
  std::uint32_t in_heap;       ///< 1: the block lies in memory grown by brk
  std::uint32_t not_zero;      ///< 1: the block held something else than zeros
  std::uint64_t not_zero_offset;  ///< of the first such byte
};

/// What of an operation one pass or another measures, but for its fork.
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

/// The timing pass of a case that receives ends with a loop of operations without any meter, between two readings of
/// each clock and counter.
struct Transfer {
  std::int64_t ops;  ///< 0: there was no such loop
  std::int64_t received_bytes;
  std::int64_t wall_ns;
  std::int64_t cpu_ns;  ///< of the thread
  std::int64_t faults;  ///< minor faults of the thread, or kNotMeasured
};

/// What the loop pass finds: the thread's clocks and counters over all operations, in one.
struct Loop {
  std::int64_t ops;  ///< 0: the loop was not ended
  std::int64_t wall_ns;
  std::int64_t user_ns;    ///< of CPU time
  std::int64_t kernel_ns;  ///< of CPU time
  std::int64_t faults;     ///< minor
  std::int64_t voluntary_switches;
  std::int64_t involuntary_switches;
  std::int64_t cycles;  ///< of the processor, or kNotMeasured
};

/// How long the loop of a transfer takes at least: 100 ms, in which a record of 16 KiB is received some ten thousand
/// times.
inline constexpr std::int64_t kTransferNs = 100'000'000;

/// Fills in a reason of the sample block, cut to its length.
template <std::size_t N>
void say(char (&reason)[N], const char* text) {
  std::snprintf(&reason[0], N, "%s", text);
}

struct SampleBlock {
  Request request;

  Phase phase;
  std::uint32_t ops_started;
  std::uint32_t ops_done;
  std::uint32_t returned_null;  ///< errno of a calloc that gave NULL
  std::int64_t run_ns;          ///< the second half of the operations, whole loop (bare pass: nothing else is measured)
  std::int64_t run_ops;         ///< operations in it
  std::uint32_t got_slots;      ///< GOT slots hooked
  std::uint32_t receives;       ///< 1: the case receives
  std::uint32_t forks;          ///< 1: the case forks
  std::uint32_t mallocs;        ///< 1: the case allocates by malloc, not by calloc
  std::uint32_t by_frame;  ///< 1: copies and reuses were distinguished by page frame numbers, else by exclusiveness
  Transfer transfer;
  Loop loop;
  char failure[kReasonBytes];  ///< why the case could not be set up, or continue; empty if it could
  // Why a metric is kNotMeasured in this pass; empty if it is measured.
  char na_zeroed[kReasonBytes];
  char na_redundant[kReasonBytes];
  char na_inline[kReasonBytes];              ///< stores other than memset, over memory that was populated before
  char na_unseen[2 * kReasonBytes];          ///< why zeroed_bytes of single operations is kNotMeasured
  char na_unseen_in_free[2 * kReasonBytes];  ///< why zeroed_in_free_bytes of single operations is kNotMeasured
  char na_zero_ns[kReasonBytes];
  char na_zero_in_free_ns[kReasonBytes];
  char na_populated[kReasonBytes];
  char na_pages[kReasonBytes];             ///< kernel-zeroed, refilled and returned bytes
  char na_unseen_pages[2 * kReasonBytes];  ///< the same of single operations
  char na_zero_page[kReasonBytes];         ///< zero_page_faults
  char na_syscalls[kReasonBytes];
  char na_faults[kReasonBytes];
  char na_classes[kReasonBytes];      ///< copies, reuses and zero-fills after a fork
  char na_cycles[kReasonBytes];       ///< cycles of the loop
  char na_page_tables[kReasonBytes];  ///< page tables of the child
  char na_held[kReasonBytes];         ///< memory held

  OpSample ops[1];  ///< recorded(request) of them

  /// How many of `ops` a request has room for: a loop records none.
  static constexpr std::size_t recorded(const Request& request) {
    return request.pass == Pass::kLoop ? 0 : request.ops;
  }

  static constexpr std::size_t bytes(std::size_t ops) {
    return sizeof(SampleBlock) + (ops > 0 ? ops - 1 : 0) * sizeof(OpSample);
  }
};

/// A driver and a probe must come from the same build: "ZT", the version of the layout, and its
/// sizes.
inline constexpr std::uint64_t kSampleBlockMagic =
    0x5a54'0007'0000'0000 | (std::uint64_t{sizeof(SampleBlock)} << 16) | std::uint64_t{sizeof(OpSample)};

/// Exit status of a probe that was given a sample block from another build, or a case it does not have.
inline constexpr int kWrongSampleBlock = 64;

/// Exit status of a probe whose case could not be set up, or continue; SampleBlock::failure says why.
inline constexpr int kCaseFailed = 65;

}  // namespace zerotax
