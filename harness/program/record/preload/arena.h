#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/faults.h"
#include "os/page.h"

namespace zerotax::record {

/// The interface between the driver and the recorded programs: plain data in one shared memory file, which every
/// process finds by the environment (shared_memory.h). A process claims a slot of its own and writes into the slot
/// while it runs, so that a killed process still leaves its counts. A counter is written by one thread, unless its
/// comment says otherwise, and read when that thread is over.
///
/// Any recorded process can write to all of this memory, so nobody trusts its contents. The driver checks the contents
/// (slot_check.h). The library uses values that it reads back only as numbers, or within the bounds of a table.

inline constexpr const char* kArenaVariable = "ZEROTAX_RECORD";

/// From this size on every call is looked at closely: pages, contents, clock, faults, call stack. Below, calls and
/// bytes are counted and samples are taken.
inline constexpr std::size_t kLargeBytes = std::size_t{64} << 10;
/// One small store of zeros is looked at for so many bytes that a thread zeroed by small stores: at first one in 256
/// KiB, then twice as many each time, for a look costs as much as the zeroing of some hundred KiB.
inline constexpr std::int64_t kFirstSampleBytes = std::int64_t{256} << 10;
inline constexpr std::int64_t kLastSampleBytes = std::int64_t{64} << 20;

inline constexpr std::size_t kClasses = 64;  ///< class k: sizes 2^k to 2^(k+1) - 1; size 0 is with size 1
inline constexpr std::size_t kThreads = 512;
inline constexpr std::size_t kSites = 2048;
inline constexpr std::size_t kFrames = 32;
inline constexpr std::size_t kModules = 512;
inline constexpr std::size_t kProcesses = 16'384;
inline constexpr std::size_t kExecs = 4096;
inline constexpr std::size_t kPathBytes = 256;
inline constexpr std::size_t kBuildIdBytes = 32;
inline constexpr std::size_t kFaultSamples = 24;

/// What was called. Aligned allocations count as malloc.
enum CallKind : std::uint32_t { kMalloc, kCalloc, kRealloc, kCallKinds };

/// Who wrote zeros: the allocator inside calloc, inside another function that allocates, or inside free; or the program
/// by a memset of zeros over a block that it had just got from malloc or realloc (by hand), or over any other memory.
enum ZeroKind : std::uint32_t { kInCalloc, kInOther, kByHand, kInFree, kCleared, kZeroKinds };

/// In which call memory went back to the kernel: of the allocator's, outside any (its own thread, or a function that
/// is not malloc's family), or the program's own.
enum ReturnCause : std::uint32_t { kByFree, kByRealloc, kByAllocation, kByPurge, kByProgram, kReturnCauses };

/// How it went back. mmap and mremap return what they replace or cut off.
enum Mechanism : std::uint32_t { kMunmap, kMadvise, kBrk, kMremap, kMmap, kMechanisms };

struct CallRow {
  std::uint64_t calls;
  std::uint64_t bytes;  ///< asked for

  void add(const CallRow& more) {
    calls += more.calls;
    bytes += more.bytes;
  }
};

/// Stores of zeros by memset and its kin.
struct ZeroRow {
  std::uint64_t stores;
  std::uint64_t bytes;
  std::uint64_t examined_bytes;   ///< of large stores, whose pages and contents were looked at
  std::uint64_t redundant_bytes;  ///< of those: were zero already

  void add(const ZeroRow& more) {
    stores += more.stores;
    bytes += more.bytes;
    examined_bytes += more.examined_bytes;
    redundant_bytes += more.redundant_bytes;
  }
};

/// Cost of the large stores.
struct ZeroCost {
  std::uint64_t bytes;
  std::uint64_t ns;  ///< of wall time
  std::uint64_t faults;
  std::uint64_t cpu_ns;            ///< by the thread's CPU clock
  std::uint64_t faultless_cpu_ns;  ///< of it, in stores that took no fault: nothing but stores of zeros

  void add(const ZeroCost& more) {
    bytes += more.bytes;
    ns += more.ns;
    faults += more.faults;
    cpu_ns += more.cpu_ns;
    faultless_cpu_ns += more.faultless_cpu_ns;
  }
};

/// Populated anonymous memory that was given back to the kernel.
struct ReturnRow {
  std::uint64_t calls;
  std::uint64_t bytes;
  std::uint64_t cpu_ns;  ///< of the system calls

  void add(const ReturnRow& more) {
    calls += more.calls;
    bytes += more.bytes;
    cpu_ns += more.cpu_ns;
  }
};

/// Small returns of which one in kSmallGroup was looked at, chosen at random, and stands for the others.
struct SmallReturns {
  std::uint64_t bytes;           ///< of those that were looked at
  std::uint64_t unlooked_bytes;  ///< the ranges of the others: they returned that at most
  std::uint64_t widest_bytes;    ///< the largest range of all
  std::uint64_t square_pages;    ///< squares of the differences between each two that were looked at in turn

  void add(const SmallReturns& more) {
    bytes += more.bytes;
    unlooked_bytes += more.unlooked_bytes;
    widest_bytes = widest_bytes > more.widest_bytes ? widest_bytes : more.widest_bytes;
    square_pages += more.square_pages;
  }
};
inline constexpr std::uint32_t kSmallGroup = 32;

/// Large blocks that were not wholly populated when the program got them.
struct FilledRow {
  std::uint64_t blocks;
  std::uint64_t kernel_zeroed_bytes;  ///< populated while the program had them
  std::uint64_t refilled_bytes;       ///< of those: in place of memory that had been returned before
  std::uint64_t returned_bytes;       ///< by the call that freed them

  void add(const FilledRow& more) {
    blocks += more.blocks;
    kernel_zeroed_bytes += more.kernel_zeroed_bytes;
    refilled_bytes += more.refilled_bytes;
    returned_bytes += more.returned_bytes;
  }
};

/// What is counted.
struct Tally {
  CallRow calls[kCallKinds][kClasses];
  ZeroRow zeroed[kZeroKinds][kClasses];  ///< by the size that calloc was asked for; by hand: of the store
  ZeroCost cost[kZeroKinds];
  std::uint64_t sampled_stores;  ///< small stores that were looked at
  std::uint64_t sampled_bytes;
  std::uint64_t sampled_redundant_bytes;
  std::uint64_t unseen_calls;   ///< large callocs that came back populated with no memset seen
  std::uint64_t unseen_bytes;   ///< populated bytes of those
  std::uint64_t own_ns;         ///< spent by the recorder on looking closely
  std::uint64_t own_cpu_ns;     ///< the same by the thread's CPU clock
  std::uint64_t free_calls;     ///< free and realloc of a block to nothing; not of a null pointer
  std::uint64_t mapping_calls;  ///< of mmap, munmap, mremap, brk and madvise in the C library, by whomever
  ReturnRow returned[kReturnCauses][kMechanisms];
  std::uint64_t sampled_returns;  ///< of those calls: stood for by one in 32
  SmallReturns small_returns;
  /// Large blocks with huge pages whose contents were looked at when they were freed: what of them was populated, and
  /// what of that lay in pages that the program had written to (not all zero).
  std::uint64_t huge_blocks;
  std::uint64_t huge_examined_bytes;
  std::uint64_t huge_written_bytes;
  /// Populated bytes under madvise(MADV_FREE): the kernel takes them when it needs memory.
  std::uint64_t offered_bytes;
  FilledRow filled[kClasses];  ///< by the size asked for
  /// Bytes of cost[kByHand] in blocks of more than malloc's alignment.
  std::uint64_t aligned_by_hand_bytes;

  void add(const Tally& more) {
    for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
      for (std::size_t i = 0; i < kClasses; ++i) calls[kind][i].add(more.calls[kind][i]);
    }
    for (std::size_t kind = 0; kind < kZeroKinds; ++kind) {
      for (std::size_t i = 0; i < kClasses; ++i) zeroed[kind][i].add(more.zeroed[kind][i]);
      cost[kind].add(more.cost[kind]);
    }
    sampled_stores += more.sampled_stores;
    sampled_bytes += more.sampled_bytes;
    sampled_redundant_bytes += more.sampled_redundant_bytes;
    aligned_by_hand_bytes += more.aligned_by_hand_bytes;
    unseen_calls += more.unseen_calls;
    unseen_bytes += more.unseen_bytes;
    own_ns += more.own_ns;
    own_cpu_ns += more.own_cpu_ns;
    free_calls += more.free_calls;
    mapping_calls += more.mapping_calls;
    for (std::size_t cause = 0; cause < kReturnCauses; ++cause) {
      for (std::size_t i = 0; i < kMechanisms; ++i) returned[cause][i].add(more.returned[cause][i]);
    }
    sampled_returns += more.sampled_returns;
    small_returns.add(more.small_returns);
    huge_blocks += more.huge_blocks;
    huge_examined_bytes += more.huge_examined_bytes;
    huge_written_bytes += more.huge_written_bytes;
    offered_bytes += more.offered_bytes;
    for (std::size_t i = 0; i < kClasses; ++i) filled[i].add(more.filled[i]);
  }
};

enum class BlockState : std::uint32_t { kFree, kUsed, kEnded };

/// What one thread did.
struct ThreadBlock : Tally {
  std::atomic<BlockState> state;
  std::uint32_t merged;  ///< threads that ended and whose figures were added to this block
  std::int32_t pid;
  std::int32_t tid;
  char name[16];
};

/// kFault: where memory was populated, of a program that is recorded from outside.
enum class SiteKind : std::uint32_t { kCalloc, kRealloc, kByHand, kOther, kFree, kPurge, kProgram, kCleared, kFault };

/// Sets what is the most so far.
inline void raise(std::atomic<std::uint64_t>& most, std::uint64_t value) {
  std::uint64_t known = most;
  while (known < value && !most.compare_exchange_weak(known, value)) {
  }
}

struct Estimate {
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> events;

  void note(std::uint64_t more) {
    bytes += more;
    ++events;
  }
};

/// One call stack that zeroes, or has the kernel zero. Several threads add to it.
struct Site {
  std::atomic<std::uint64_t> key;  ///< hash of the stack and the kind; 0: free
  std::atomic<std::uint32_t> ready;
  SiteKind kind;
  std::uint32_t depth;
  std::uint32_t padding;
  std::uint64_t frames[kFrames];  ///< innermost first: index of the module in the upper 16 bits, address within it
  std::atomic<std::uint64_t> calls;
  std::atomic<std::uint64_t> sampled_calls;  ///< further calls, estimated by samples (site_weight)
  std::atomic<std::uint64_t> requested_bytes;
  std::atomic<std::uint64_t> zeroed_bytes;
  std::atomic<std::uint64_t> redundant_bytes;
  std::atomic<std::uint64_t> unexamined_bytes;  ///< of zeroed_bytes: in large stores whose contents nobody looked at
  std::atomic<std::uint64_t> sampled_clears_bytes;  ///< zeroed by sampled_calls; their contents were not looked at
  std::atomic<std::uint64_t> zero_ns;
  std::atomic<std::uint64_t> zero_faults;
  std::atomic<std::uint64_t> sampled_zeroed_bytes;  ///< small stores: all since the sample before are attributed to it
  std::atomic<std::uint64_t> sampled_redundant_bytes;  ///< by the share of the one that was looked at
  std::atomic<std::uint64_t> kernel_zeroed_bytes;    ///< of large blocks got here: populated while the program had them
  std::atomic<std::uint64_t> refilled_bytes;         ///< of those: in place of memory that had been returned before
  std::atomic<std::uint64_t> returned[kMechanisms];  ///< bytes that calls from here gave back
  /// Of small blocks got here, two estimates of what the kernel zeroed for them, and from how many events: the pages
  /// that they were first on, by the calls that were looked at; and by how much the heap grew in these calls.
  Estimate first_pages;
  Estimate growth;
  std::atomic<std::uint64_t> live_bytes;          ///< of large blocks got here, where the live heap is counted
  std::atomic<std::uint64_t> live_at_peak_bytes;  ///< the same at Holdings::kept_peak_live_bytes
};

inline constexpr std::uint64_t kFrameModuleShift = 48;
inline constexpr std::uint64_t kFrameAddressMask = (std::uint64_t{1} << kFrameModuleShift) - 1;

/// A loaded object that frames lie in. Module 0 is no object: the address is absolute.
struct Module {
  std::atomic<std::uint32_t> ready;
  std::uint32_t build_id_bytes;
  std::uint64_t begin;  ///< of its mapping
  std::uint64_t end;
  std::uint64_t bias;  ///< what to subtract from an address to get that of the file
  unsigned char build_id[kBuildIdBytes];
  char path[kPathBytes];
};

/// Why something is missing in a process's figures: bits of ProcessSlot::gaps.
enum Gap : std::uint32_t {
  kOwnCalloc = 1,    ///< the program brings a calloc of its own, which comes before ours
  kNoLibcSlots = 2,  ///< the C library's own calls of memset were not found
  kNoPagemap = 4,    ///< pages cannot be looked at
  kThreadsShared =
      8,            ///< more threads at once than there are blocks: the last block is shared, its counts may fall short
  kSitesLost = 16,  ///< more call stacks than there is room for
  kHoldsChildren = 32,  ///< children of fork that could not open the arena count here
  kNoReturns = 64,      ///< the C library's munmap, madvise and brk could not be watched
  kBlocksLost = 128,    ///< more large blocks at once than there is room for
  kNoHoldings = 256,    ///< what it held could not be looked at any more
  kNoUsableSize = 512,  ///< its allocator does not say how large a block is, so that live bytes cannot be counted
  kOwnScope = 1024,     ///< it opened a library that does not find our functions first
  kMadeCode = 1 << 16,  ///< it ran code made in memory, whose stores cannot be seen
};

inline constexpr std::uint64_t kUnknownBytes = ~std::uint64_t{0};

/// What a process holds and held of anonymous memory, which with what it returned tells what the kernel zeroed for it.
/// Shared by its threads.
struct Holdings {
  std::atomic<std::uint64_t> at_start_bytes;  ///< a child of fork: what it took over, less its copies of pages of files
  std::uint64_t at_open_bytes;                ///< held when it began to be watched
  std::uint64_t files_at_open_bytes;          ///< of files and shared memory, at the same time
  std::uint64_t faults_at_open;               ///< minor faults by then, of the programs that it was before too
  std::atomic<std::uint64_t> last_bytes;      ///< when it was last looked at
  std::atomic<std::uint64_t> peak_bytes;      ///< looked at whenever memory is about to be returned
  std::atomic<std::uint64_t> returned_bytes;
  std::atomic<std::uint64_t> returned_huge_bytes;  ///< of those: in huge pages
  std::atomic<std::uint64_t> unlooked_bytes;       ///< returned since last_bytes was read
  /// Returned, and neither taken again nor kept back for a block that may take it: what is populated next fills it
  /// again.
  std::atomic<std::uint64_t> pool_bytes;
  std::atomic<std::uint64_t> returned_copies;        ///< bytes of pages of private file mappings that were unmapped
  std::atomic<std::uint64_t> returned_zero_bytes;    ///< of the shared zero page: what was read and never written
  std::atomic<std::uint64_t> shared_bytes;           ///< of memory that was mapped to be shared, by parents too
  std::atomic<std::uint64_t> hugetlb_mapped_bytes;   ///< of memory in pages of hugetlbfs, by parents too
  std::atomic<std::uint64_t> private_shared_bytes;   ///< private mappings of files in shared memory, including the
                                                     ///< parents': a fault may zero the file's page and copy it
  std::atomic<std::uint64_t> file_mapped_bytes;      ///< of files that the program mapped
  std::atomic<std::uint64_t> program_mapped_bytes;   ///< private anonymous mappings of neither allocators nor stacks
  std::atomic<std::uint64_t> forked_bytes;           ///< that it held whenever it forked: a copy fault for each page
  std::atomic<std::uint64_t> collapsed_bytes;        ///< of huge pages that MADV_COLLAPSE made
  std::atomic<std::uint64_t> collapsed_small_bytes;  ///< of collapsed_bytes: had been populated page by page
  std::atomic<std::uint64_t> copied_in_bytes;        ///< by userfaultfd: not zeroed
  std::atomic<std::uint64_t> lost_blocks;            ///< large blocks that there was no room to remember
  /// Processes that shared its memory without being its threads (vfork, clone with CLONE_VM). Their calls and bytes
  /// count here. Their faults and CPU time count until they ended or became another program.
  std::atomic<std::uint64_t> sharers_begun;
  std::atomic<std::uint64_t> sharers_ended;
  std::atomic<std::uint64_t> sharers_faults;
  std::atomic<std::uint64_t> sharers_cpu_ns;
  /// Bytes requested in remembered large blocks, now and at their peak. large_whole_bytes is of blocks that were wholly
  /// populated when they came, which are not remembered.
  std::atomic<std::int64_t> large_live_bytes;
  std::atomic<std::uint64_t> peak_large_live_bytes;
  std::atomic<std::uint64_t> large_whole_bytes;
  std::atomic<std::uint32_t> returns;
  std::atomic<std::uint32_t> samples_used;
  FaultSample samples[kFaultSamples];
  std::atomic<std::uint64_t> own_bytes;   ///< of a sample that is being taken: no memory of the program's
  std::atomic<std::uint64_t> own_faults;  ///< of those samples, and of pages of the arena

  std::atomic<std::uint64_t> zero_page_bytes;  ///< of large blocks that ended: read and never written, so that the
                                               ///< shared zero page stood for them
  std::uint64_t live_zero_page_bytes;          ///< the same of blocks that the process had when its books were closed
  /// Resident bytes of shared memory that it had mapped at that time, without ours. ~0: unknown.
  std::uint64_t shared_resident_bytes;
  std::uint64_t own_shared_bytes;  ///< our shared memory, at that time
  std::uint64_t pinned_bytes;      ///< memory pinned for a device at that time: fork copies such pages at once

  std::atomic<std::uint64_t> peak_live_bytes;       ///< the most that its blocks had, where that is counted
  std::atomic<std::uint64_t> kept_peak_live_bytes;  ///< the last one of which sites kept their part

  std::uint32_t closed;  ///< 1: the following were read when it ended, or became another program
  std::uint64_t at_end_bytes;
  std::uint64_t huge_bytes;  ///< of those: in huge pages; a child of fork does not look
  std::uint64_t swapped_bytes;
  std::uint64_t copied_bytes;  ///< of at_end_bytes: pages of private file mappings, which were copied, not zeroed
  std::uint64_t image_bytes;  ///< of at_end_bytes: data without an initial value, and the stack; not in a child of fork
  std::uint64_t hugetlb_bytes;      ///< in addition, private memory in pages of hugetlbfs
  std::uint64_t at_end_zero_bytes;  ///< in addition, of the shared zero page
  std::uint64_t file_bytes;         ///< in addition, of files and shared memory, beyond files_at_open_bytes
  std::uint64_t minor_faults;
};

/// What one process did: an image from its start or exec on, or a child of fork.
struct ProcessSlot {
  std::atomic<std::uint32_t> ready;
  std::atomic<std::uint32_t> gaps;
  std::int32_t pid;
  std::int32_t parent;
  std::uint32_t forked;              ///< 1: a child of fork, which continues in the image of its parent
  std::atomic<std::uint32_t> ended;  ///< 1: ran its destructors, or called _exit
  std::int64_t started_ns;           ///< CLOCK_MONOTONIC
  std::int64_t ended_ns;
  std::int64_t user_ns;  ///< at the end
  std::int64_t system_ns;
  std::int64_t cpu_at_start_ns;      ///< CPU time that this process had used as another program
  std::atomic<std::int64_t> cpu_ns;  ///< and when it was last looked at
  std::uint64_t pid_namespace;       ///< of its PIDs: the inode of /proc/self/ns/pid; 0: unknown
  char name[16];                     ///< the kernel's name for it, at its start
  Holdings holdings;
  char executable[kPathBytes];
  char command[kPathBytes];      ///< the beginning of its command line
  char allocator[kPathBytes];    ///< the library whose calloc it uses
  std::uint32_t pagemap_method;  ///< as Pagemap::Method
  std::atomic<std::uint32_t> threads_used;
  std::atomic<std::uint32_t> modules_used;
  std::atomic<std::uint64_t> sites_lost;

  alignas(kLeastPageBytes) Module modules[kModules];
  alignas(kLeastPageBytes) Site sites[kSites];
  alignas(kLeastPageBytes) ThreadBlock threads[kThreads];
};

/// Faults and CPU time of a process while it shared the memory of another (vfork, clone with CLONE_VM).
struct SharerUse {
  std::uint64_t faults;
  std::uint64_t cpu_ns;
};

/// A program that a process was about to become, or start by posix_spawn; or the end of a process that shared the
/// memory of another.
struct ExecEntry {
  std::atomic<std::uint32_t> ready;
  std::atomic<std::uint32_t> failed;  ///< errno
  std::int32_t pid;
  std::uint8_t cleaned;      ///< 1: the environment passed to it does not preload us
  std::uint8_t unreachable;  ///< 1: the program finds no memory to record into
  std::uint8_t ended;        ///< 1: no program, but the end of a process that shared the memory of another
  SharerUse shared;          ///< counted in the process whose memory it was
  std::int64_t at_ns;
  char path[kPathBytes];
};

/// What one process had counted when its program read a clock (bench/preload). Sums from its start on.
struct Mark {
  std::atomic<std::uint32_t> ready;
  std::int32_t pid;
  std::int32_t tid;
  std::uint32_t later_readings;  ///< of the clock, in a row, that have no marks of their own
  std::int64_t ns;               ///< real time, as the program had read it last
  std::uint64_t minor_faults;
  std::uint64_t anonymous_bytes;  ///< held
  std::uint64_t peak_bytes;       ///< the most that was ever held
  std::uint64_t returned_bytes;
  std::uint64_t zeroed_bytes;   ///< by the allocator, outside free
  std::uint64_t by_hand_bytes;  ///< by memsets of the program
  std::uint64_t calls;          ///< of malloc, calloc and realloc
};
inline constexpr std::size_t kMarks = 32'768;

struct Arena {
  std::uint64_t magic;
  std::uint32_t pagemap_method;           ///< how pages can be looked at here, as Pagemap::Method; found by the driver
  std::uint32_t counts_live_heap;         ///< 1: the driver wants to know the peak of live bytes
  std::atomic<std::uint32_t> slots_used;  ///< may pass kProcesses: then some were not recorded
  std::atomic<std::uint32_t> execs_used;
  ExecEntry execs[kExecs];
  std::atomic<std::uint32_t> marks_used;  ///< may pass kMarks: then some were lost
  alignas(kLeastPageBytes) Mark marks[kMarks];
};

/// Each is mapped by itself, so that it begins and ends with a page, however large that is.
constexpr std::size_t whole_pages_anywhere(std::size_t bytes) {
  return (bytes + kMostPageBytes - 1) & ~(kMostPageBytes - 1);
}
inline constexpr std::size_t kSlotBytes = whole_pages_anywhere(sizeof(ProcessSlot));
inline constexpr std::size_t kSlotsOffset = whole_pages_anywhere(sizeof(Arena));
inline constexpr std::size_t kArenaBytes = kSlotsOffset + kProcesses * kSlotBytes;

/// A driver and a library of different builds must not talk to each other: "ZR", the layout's version and sizes.
inline constexpr std::uint64_t kArenaMagic =
    0x5a52'0012'0000'0000 | (std::uint64_t{sizeof(ThreadBlock) & 0xffff} << 16) | (sizeof(Site) & 0xffff);

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace zerotax::record
