#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/faults.h"
#include "os/page.h"
#include "record/preload/tally.h"

namespace zerotax::record {

/// The interface between the driver and the recorded programs: plain data in one shared memory file, which every
/// process finds by its environment (shared_memory.h). A process claims a slot and writes into that slot while it runs,
/// so that a killed process still leaves its counts. A counter is written by one thread, and read after that thread has
/// ended, unless the counter's comment says otherwise. Any recorded process can write to all of this memory, so the
/// memory's contents are not trusted. The driver checks the contents (record/arena.cc). The library uses values that it
/// reads back only as numbers, or within the bounds of a table.

inline constexpr const char* kArenaVariable = "ZEROTAX_RECORD";

enum class BlockState : std::uint32_t { kFree, kUsed, kEnded };

/// The counts of one thread.
struct ThreadBlock : Tally {
  std::atomic<BlockState> state;
  std::uint32_t merged;  ///< number of ended threads whose counts were added to this block
  std::int32_t pid;
  std::int32_t tid;
  char name[16];
};

/// Kinds of sites. At a site of kind kFault, memory of a program recorded from outside was populated.
enum class SiteKind : std::uint32_t { kCalloc, kRealloc, kByHand, kOther, kFree, kPurge, kProgram, kCleared, kFault };

/// Raises a maximum to a value.
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

/// A call stack that zeroes memory, causes the kernel to zero memory, or returns memory. Several threads add to a site.
struct Site {
  std::atomic<std::uint64_t> key;  ///< hash of the stack and the kind; 0: free
  std::atomic<std::uint32_t> ready;
  SiteKind kind;
  std::uint32_t depth;
  std::uint32_t padding;
  /// Frames, innermost first. The upper 16 bits of a frame are the index of a module; the lower bits are an address
  /// within that module. A script's frame is kScriptFrame plus the index of a Python function.
  std::uint64_t frames[kFrames];
  std::atomic<std::uint64_t> calls;
  std::atomic<std::uint64_t> sampled_calls;  ///< further calls, estimated from samples (site_weight())
  std::atomic<std::uint64_t> requested_bytes;
  std::atomic<std::uint64_t> zeroed_bytes;
  std::atomic<std::uint64_t> redundant_bytes;
  std::atomic<std::uint64_t> unexamined_bytes;  ///< the part of zeroed_bytes in large stores whose contents were not
                                                ///< examined
  std::atomic<std::uint64_t> sampled_clears_bytes;  ///< bytes zeroed by the calls in sampled_calls, whose contents were
                                                    ///< not examined
  std::atomic<std::uint64_t> zero_ns;
  std::atomic<std::uint64_t> zero_faults;
  std::atomic<std::uint64_t> sampled_zeroed_bytes;     ///< bytes of small stores: each sample counts all bytes since
                                                       ///< the previous sample
  std::atomic<std::uint64_t> sampled_redundant_bytes;  ///< redundant bytes of small stores, by the redundant share of
                                                       ///< each examined store
  std::atomic<std::uint64_t> kernel_zeroed_bytes;    ///< bytes of large blocks allocated here that were populated while
                                                     ///< the program had the blocks
  std::atomic<std::uint64_t> refilled_bytes;         ///< the part of kernel_zeroed_bytes that refilled memory returned
                                                     ///< before
  std::atomic<std::uint64_t> returned[kMechanisms];  ///< bytes that calls at this site returned
  /// Two estimates of the bytes that the kernel zeroed for small blocks of this site, each with its number of events.
  /// `first_pages` counts pages on which an examined block was the first block. `growth` counts bytes by which the heap
  /// grew in calls at this site.
  Estimate first_pages;
  Estimate growth;
  std::atomic<std::uint64_t> live_bytes;          ///< bytes of large live blocks of this site, if the live heap is
                                                  ///< counted
  std::atomic<std::uint64_t> live_at_peak_bytes;  ///< live_bytes at the last peak of the live heap
                                                  ///< (Holdings::kept_peak_live_bytes)
};

inline constexpr std::uint64_t kFrameModuleShift = 48;
inline constexpr std::uint64_t kScriptFrame = std::uint64_t{kModules} << kFrameModuleShift;
inline constexpr std::uint64_t kFrameAddressMask = (std::uint64_t{1} << kFrameModuleShift) - 1;

/// A loaded object that contains frames. Module 0 is not an object, and its frames have absolute addresses.
struct Module {
  std::atomic<std::uint32_t> ready;
  std::uint32_t build_id_bytes;
  std::uint64_t begin;  ///< beginning of the object's mapping
  std::uint64_t end;
  std::uint64_t bias;  ///< difference between an address in memory and the address in the file
  unsigned char build_id[kBuildIdBytes];
  char path[kPathBytes];
};

/// Reasons why a process's counts are incomplete, as bits of ProcessSlot::gaps.
enum Gap : std::uint32_t {
  kOwnCalloc = 1,       ///< the program has its own calloc, which the linker finds before the recorder's
  kNoLibcSlots = 2,     ///< the C library's own calls to memset were not found
  kNoPagemap = 4,       ///< pages cannot be examined
  kThreadsShared = 8,   ///< more threads than blocks: threads without a block of their own share the last block, whose
                        ///< counts may be too low
  kSitesLost = 16,      ///< more call stacks than there is room for
  kHoldsChildren = 32,  ///< children of fork could not open the arena, so their counts are included here
  kNoReturns = 64,      ///< the C library's munmap, madvise and brk could not be watched
  kBlocksLost = 128,    ///< more large blocks at one time than there is room for
  kNoHoldings = 256,    ///< the process's memory could no longer be examined
  kNoUsableSize = 512,  ///< the allocator does not report the size of a block, so live bytes cannot be counted
  kOwnScope = 1024,     ///< the process opened a library that does not find the recorder's functions first
  kMadeCode = 1 << 16,  ///< the process ran code made in memory, whose stores cannot be seen
};

inline constexpr std::uint64_t kUnknownBytes = ~std::uint64_t{0};

/// The mappings that contain huge pages: of the allocator, of stacks, and of the program itself.
enum class HugeKind : std::uint32_t { kAllocator, kStack, kProgram };
inline constexpr std::size_t kHugeKinds = 3;

/// Huge pages in one kind of mapping.
struct HugeUse {
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> examined_bytes;   ///< the part of `bytes` whose contents were read
  std::atomic<std::uint64_t> unwritten_bytes;  ///< the part of examined_bytes on pages of 4 KiB that were all zero
};

/// The anonymous memory that a process holds and has held. This memory and the returned memory determine the bytes that
/// the kernel zeroed for the process. All threads of the process write here.
struct Holdings {
  std::atomic<std::uint64_t> at_start_bytes;  ///< for a child of fork: bytes taken over from the parent, without copies
                                              ///< of file pages
  std::uint64_t at_open_bytes;                ///< bytes held when recording began
  std::uint64_t files_at_open_bytes;          ///< bytes of files and shared memory held when recording began
  std::uint64_t faults_at_open;               ///< minor faults before recording began, including those under earlier
                                              ///< programs
  std::atomic<std::uint64_t> last_bytes;      ///< bytes held at the last sample
  std::atomic<std::uint64_t> peak_bytes;      ///< maximum of the samples; a sample is taken before memory is returned
  std::atomic<std::uint64_t> returned_bytes;
  std::atomic<std::uint64_t> returned_huge_bytes;  ///< the part of returned_bytes in huge pages
  std::atomic<std::uint64_t> unlooked_bytes;       ///< bytes returned since the last sample (last_bytes)
  /// Returned bytes that were neither refilled nor set aside for a block that may refill them. Bytes that are populated
  /// next count as refilled from this pool.
  std::atomic<std::uint64_t> pool_bytes;
  std::atomic<std::uint64_t> returned_copies;        ///< bytes of copied pages of private file mappings that were
                                                     ///< unmapped
  std::atomic<std::uint64_t> returned_zero_bytes;    ///< returned bytes of the shared zero page, which were read and
                                                     ///< never written
  std::atomic<std::uint64_t> shared_bytes;           ///< bytes mapped as shared memory, including mappings of the
                                                     ///< parent processes
  std::atomic<std::uint64_t> hugetlb_mapped_bytes;   ///< bytes mapped in pages of hugetlbfs, including mappings of the
                                                     ///< parent processes
  std::atomic<std::uint64_t> private_shared_bytes;   ///< bytes of private mappings of files in shared memory, including
                                                     ///< those of the parent processes; one fault may zero the file's
                                                     ///< page and copy it
  std::atomic<std::uint64_t> file_mapped_bytes;      ///< bytes of files that the program mapped
  std::atomic<std::uint64_t> program_mapped_bytes;   ///< bytes of private anonymous mappings, without those of
                                                     ///< allocators and stacks
  std::atomic<std::uint64_t> forked_bytes;           ///< sum of the bytes held at each fork; each page of these bytes
                                                     ///< may cost a copy fault
  std::atomic<std::uint64_t> collapsed_bytes;        ///< bytes of huge pages that MADV_COLLAPSE made
  std::atomic<std::uint64_t> collapsed_small_bytes;  ///< the part of collapsed_bytes that had been populated page by
                                                     ///< page
  std::atomic<std::uint64_t> copied_in_bytes;        ///< bytes supplied by userfaultfd, which were not zeroed
  std::atomic<std::uint64_t> lost_blocks;            ///< number of large blocks that were not remembered, for lack of
                                                     ///< room
  /// Processes that shared the memory of this process without being its threads (vfork, clone with CLONE_VM). Calls and
  /// bytes of these sharers count here. The faults and CPU time of the sharers count until they ended or executed
  /// another program.
  std::atomic<std::uint64_t> sharers_begun;
  std::atomic<std::uint64_t> sharers_ended;
  std::atomic<std::uint64_t> sharers_faults;
  std::atomic<std::uint64_t> sharers_cpu_ns;
  /// Quiet children (quiet_child.h). When a quiet child ends, or executes a program, its faults and CPU time are added
  /// to `sharers_faults` and `sharers_cpu_ns`.
  std::atomic<std::uint64_t> quiet_begun;
  std::atomic<std::uint64_t> quiet_ended;
  std::atomic<std::uint64_t> quiet_execs;
  /// Bytes requested in remembered large blocks, now and at their peak. Blocks that were already fully populated are
  /// not remembered; large_whole_bytes counts their bytes.
  std::atomic<std::int64_t> large_live_bytes;
  std::atomic<std::uint64_t> peak_large_live_bytes;
  std::atomic<std::uint64_t> large_whole_bytes;
  HugeUse huge_returned[kHugeKinds];        ///< huge pages when they were returned to the kernel
  HugeUse huge_held[kHugeKinds];            ///< huge pages at the end of the process; not read in a child of fork
  std::atomic<std::uint64_t> huge_returns;  ///< number of returns with huge pages
  std::atomic<std::uint32_t> returns;
  std::atomic<std::uint32_t> samples_used;
  FaultSample samples[kFaultSamples];
  std::atomic<std::uint64_t> own_bytes;   ///< bytes of a cost sample that is being taken, which do not belong to the
                                          ///< program
  std::atomic<std::uint64_t> own_faults;  ///< faults of cost samples, and of pages of the arena

  std::atomic<std::uint64_t> zero_page_bytes;  ///< bytes of freed large blocks that were read and never written, so
                                               ///< that the shared zero page was mapped there
  std::uint64_t live_zero_page_bytes;          ///< bytes at which the shared zero page was mapped in blocks that the
                                               ///< process still had when its counts were closed
  /// Resident bytes of shared memory that was mapped when the counts were closed, without the recorder's shared memory;
  /// ~0: unknown.
  std::uint64_t shared_resident_bytes;
  std::uint64_t own_shared_bytes;  ///< bytes of the recorder's shared memory when the counts were closed
  std::uint64_t pinned_bytes;      ///< bytes pinned for a device when the counts were closed; fork copies pinned pages
                                   ///< at once

  std::atomic<std::uint64_t> peak_live_bytes;       ///< maximum bytes of live blocks, if they are counted
  std::atomic<std::uint64_t> kept_peak_live_bytes;  ///< peak_live_bytes at the time when sites last kept
                                                    ///< live_at_peak_bytes

  std::uint32_t closed;  ///< 1: the following values were read when the process ended, or executed another program
  std::uint64_t at_end_bytes;
  std::uint64_t huge_bytes;  ///< the part of at_end_bytes in huge pages; not read in a child of fork
  std::uint64_t swapped_bytes;
  std::uint64_t copied_bytes;  ///< the part of at_end_bytes in pages of private file mappings, which were copied, not
                               ///< zeroed
  std::uint64_t image_bytes;   ///< the part of at_end_bytes in the stack and in data without an initial value; not read
                               ///< in a child of fork
  std::uint64_t hugetlb_bytes;      ///< private memory in pages of hugetlbfs, in addition to at_end_bytes
  std::uint64_t at_end_zero_bytes;  ///< bytes of the shared zero page, in addition to at_end_bytes
  std::uint64_t file_bytes;         ///< bytes of files and shared memory beyond files_at_open_bytes
  std::uint64_t minor_faults;
};

/// A function of a script that CPython ran.
struct PythonFunction {
  std::atomic<std::uint64_t> key;  ///< 0: free
  std::atomic<std::uint32_t> ready;
  std::int32_t line;  ///< first line of the function
  char function[72];
  char file[168];
};

/// The frame rules of one address (FrameRules), in the usual form. The CFA is a register plus a number. Each saved
/// register lies at a distance from the CFA.
struct KnownRules {
  static constexpr std::size_t kMostSaved = 12;
  std::atomic<std::uint32_t> taken;  ///< 1: a thread reads or writes this entry
  std::uint8_t saved;                ///< number of saved registers, including the return address
  std::uint8_t cfa_base;
  std::uint8_t is_signal_frame;
  std::uint8_t is_signed;
  std::uint64_t address;  ///< 0: free
  std::uint64_t object;   ///< address of the tables in the object that contains `address`
  std::int32_t cfa_number;
  std::int32_t distances[kMostSaved];
  std::uint8_t registers[kMostSaved];
};
inline constexpr std::size_t kKnownRules = 1024;

/// The data of one process: a program from its start or exec on, or a child of fork.
struct ProcessSlot {
  std::atomic<std::uint32_t> ready;
  std::atomic<std::uint32_t> gaps;
  std::int32_t pid;
  std::int32_t parent;
  std::uint32_t forked;              ///< 1: a child of fork, which continues its parent's program
  std::atomic<std::uint32_t> ended;  ///< 1: the process ran its destructors, or called _exit
  std::int64_t started_ns;           ///< CLOCK_MONOTONIC
  std::int64_t ended_ns;
  std::int64_t user_ns;  ///< CPU time in user mode at the end
  std::int64_t system_ns;
  std::int64_t cpu_at_start_ns;      ///< CPU time that this process had used under earlier programs
  std::atomic<std::int64_t> cpu_ns;  ///< CPU time at the last sample
  std::uint64_t pid_namespace;       ///< inode of /proc/self/ns/pid, the namespace of the process's PIDs; 0: unknown
  char name[16];                     ///< name of the process in the kernel, at its start
  Holdings holdings;
  char executable[kPathBytes];
  char command[kPathBytes];      ///< the beginning of the command line
  char allocator[kPathBytes];    ///< the library whose calloc the process uses
  std::uint32_t pagemap_method;  ///< a Pagemap::Method
  std::atomic<std::uint32_t> threads_used;
  std::atomic<std::uint32_t> modules_used;
  std::atomic<std::uint64_t> sites_lost;

  alignas(kLeastPageBytes) Module modules[kModules];
  alignas(kLeastPageBytes) Site sites[kSites];
  alignas(kLeastPageBytes) ThreadBlock threads[kThreads];
  alignas(kLeastPageBytes) PythonFunction python_functions[kScriptFunctions];
  alignas(kLeastPageBytes) KnownRules known_rules[kKnownRules];
};

/// Faults and CPU time of a process while it shared the memory of another process (vfork, clone with CLONE_VM).
struct SharerUse {
  std::uint64_t faults;
  std::uint64_t cpu_ns;
};

/// A program that a process was about to exec, or to start with posix_spawn. With `ended`, the end of a process that
/// shared the memory of another process.
struct ExecEntry {
  std::atomic<std::uint32_t> ready;
  std::atomic<std::uint32_t> failed;  ///< errno
  std::int32_t pid;
  std::uint8_t cleaned;      ///< 1: the program's environment does not preload the recorder
  std::uint8_t unreachable;  ///< 1: the program cannot open the arena
  std::uint8_t ended;        ///< 1: this entry is not a program, but the end of a process that shared the memory of
                             ///< another
  SharerUse shared;          ///< faults and CPU time that count in the process that owned the memory
  std::int64_t at_ns;
  char path[kPathBytes];
};

/// The counts of one process at the moment when its program read a clock (bench/preload). All counts are sums since the
/// start of the process.
struct Mark {
  std::atomic<std::uint32_t> ready;
  std::int32_t pid;
  std::int32_t tid;
  std::uint32_t later_readings;  ///< number of directly following readings of the clock that this mark also represents
  std::int64_t ns;               ///< the real time that the program read last
  std::uint64_t minor_faults;
  std::uint64_t anonymous_bytes;  ///< bytes held
  std::uint64_t peak_bytes;       ///< maximum held memory in bytes
  std::uint64_t returned_bytes;
  std::uint64_t zeroed_bytes;   ///< bytes zeroed by the allocator, outside free
  std::uint64_t by_hand_bytes;  ///< bytes zeroed by memsets of the program
  std::uint64_t calls;          ///< calls to malloc, calloc and realloc
};
inline constexpr std::size_t kMarks = 32'768;

/// How a process was started: by fork, which copies the page tables; by vfork; by posix_spawn, also within popen and
/// system; or by clone(2) with CLONE_VM.
enum class ForkKind : std::uint32_t { kFork, kVfork, kSpawn, kSharer };
inline constexpr std::size_t kForkKinds = 4;
inline constexpr std::size_t kForkSites = 4096;

/// A call stack that starts processes. Several processes add to a site: a child adds its exec to its parent's site.
struct ForkSite {
  std::atomic<std::uint64_t> key;  ///< hash of the stack, the kind and the process; 0: free
  std::atomic<std::uint32_t> ready;
  ForkKind kind;
  std::int32_t pid;  ///< the process whose modules contain the frames, with `started_ns` of its slot
  std::uint32_t depth;
  std::int64_t started_ns;
  std::uint64_t frames[kFrames];  ///< as in Site::frames
  std::atomic<std::uint64_t> calls;
  std::atomic<std::uint64_t> failed;      ///< the part of `calls` that started no process
  std::atomic<std::uint64_t> timed;       ///< the part of `calls` whose time is in `ns`
  std::atomic<std::uint64_t> ns;          ///< time from call to return in the calling thread
  std::atomic<std::uint64_t> longest_ns;  ///< the longest call
  std::atomic<std::uint64_t> held_bytes;  ///< sum of the anonymous memory that the process held at each fork
  std::atomic<std::uint64_t> execs;       ///< children that executed a program, or that posix_spawn started
  std::atomic<std::uint64_t> exec_ns;     ///< sum of the times from call to exec
  // The parts of `execs` in which the child did something between fork and exec:
  std::atomic<std::uint64_t> allocated;    ///< allocated memory
  std::atomic<std::uint64_t> new_user;     ///< changed its user, group or supplementary groups
  std::atomic<std::uint64_t> new_session;  ///< began a session or a process group
  std::atomic<std::uint64_t> closed;       ///< closed a range of descriptors
};

struct Arena {
  std::uint64_t magic;
  std::uint32_t pagemap_method;             ///< method by which pages can be examined on this machine (a
                                            ///< Pagemap::Method), found by the driver
  std::uint32_t counts_live_heap;           ///< 1: the driver needs the peak of live bytes
  std::uint32_t keeps_resident;             ///< 1: the driver divides resident memory (resident_area.h)
  std::atomic<std::uint32_t> driver_wakes;  ///< a futex on which the driver waits for requests (ResidentHead::asked)
  std::atomic<std::uint32_t> driver_beats;  ///< changes several times a second while the driver answers requests
  std::atomic<std::uint32_t> slots_used;    ///< number of slots that processes claimed; if it exceeds kProcesses, some
                                            ///< processes were not recorded
  std::atomic<std::uint32_t> execs_used;
  std::atomic<std::uint64_t> forks_lost;  ///< calls for whose site `forks` has no room; on the first page, because a
                                          ///< full file system has no other
  ExecEntry execs[kExecs];
  std::atomic<std::uint32_t> marks_used;  ///< number of marks; if it exceeds kMarks, some marks were lost
  alignas(kLeastPageBytes) Mark marks[kMarks];
  alignas(kLeastPageBytes) ForkSite forks[kForkSites];
};

/// Rounds up to whole pages of any supported size. Each part is mapped separately, so it must begin and end with a
/// page.
constexpr std::size_t whole_pages_anywhere(std::size_t bytes) {
  return (bytes + kMostPageBytes - 1) & ~(kMostPageBytes - 1);
}
inline constexpr std::size_t kSlotBytes = whole_pages_anywhere(sizeof(ProcessSlot));
inline constexpr std::size_t kSlotsOffset = whole_pages_anywhere(sizeof(Arena));
inline constexpr std::size_t kArenaBytes = kSlotsOffset + kProcesses * kSlotBytes;

/// "ZR", the version of the layout, and sizes. These values keep a driver from using a library of a different build.
inline constexpr std::uint64_t kArenaMagic =
    0x5a52'0015'0000'0000 | (std::uint64_t{sizeof(ThreadBlock) & 0xffff} << 16) | (sizeof(Site) & 0xffff);

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace zerotax::record
