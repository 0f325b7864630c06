#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/measured.h"
#include "observe/symbols.h"

namespace zerotax::record {

struct MemoryParts {
  RESULT("memory parts", "Resident anonymous memory and its parts, which add up to resident_bytes exactly.");
  MEMBER(resident_bytes, "Anonymous bytes in memory, without swapped pages, the shared zero page and hugetlbfs.");
  std::uint64_t resident_bytes = 0;
  MEMBER(live_bytes, "Usable bytes of live blocks on resident pages.");
  std::uint64_t live_bytes = 0;
  MEMBER(free_bytes,
         "Whole pages of freed blocks, which the allocator could return. In glibc, the first page of each hole stays, "
         "because it contains the hole's header.");
  std::uint64_t free_bytes = 0;
  MEMBER(fragmented_bytes, "The other bytes of pages that hold a live block: free bytes, and headers of blocks.");
  std::uint64_t fragmented_bytes = 0;
  MEMBER(offered_bytes, "Pages under MADV_FREE, which the kernel takes when it needs memory.");
  std::uint64_t offered_bytes = 0;
  MEMBER(allocator_bytes, "Pages of the allocator that never held a block since they were mapped or returned.");
  std::uint64_t allocator_bytes = 0;
  MEMBER(stack_bytes, "Stacks of threads.");
  std::uint64_t stack_bytes = 0;
  MEMBER(other_bytes,
         "The rest: mappings of the program itself, data of programs and libraries, and the recorder's own data.");
  std::uint64_t other_bytes = 0;

  void add(const MemoryParts& more) {
    resident_bytes += more.resident_bytes;
    live_bytes += more.live_bytes;
    free_bytes += more.free_bytes;
    fragmented_bytes += more.fragmented_bytes;
    offered_bytes += more.offered_bytes;
    allocator_bytes += more.allocator_bytes;
    stack_bytes += more.stack_bytes;
    other_bytes += more.other_bytes;
  }
  /// Bytes that were freed, or offered to the kernel, and are resident.
  [[nodiscard]] std::uint64_t freed_bytes() const { return free_bytes + fragmented_bytes + offered_bytes; }
};

struct ResidentHeap {
  RESULT("resident heap", "A heap of the allocator, or its other mappings together.");
  FIELD(std::string, heap, "The heap: main heap, thread heap and its number, [heap], or other mappings.");
  FIELD(MemoryParts, parts, "Parts of the heap's resident memory.");
  FIELD(std::uint64_t, last_block_bytes,
        "Usable bytes of the heap's live block with the highest address. glibc trims a heap only above this block.");
  FIELD(std::uint64_t, below_last_bytes, "Free whole pages below the last block.");
  FIELD(std::vector<NamedFrame>, last_block_frames, "Call stack that allocated the last block, innermost first.",
        kMayBeEmpty);
};

struct FreedSite {
  RESULT("freed site", "A call stack whose blocks were the last ones on pages that are free now.");
  FIELD(std::uint64_t, free_bytes, "Free whole pages, including pages under MADV_FREE.");
  FIELD(std::vector<NamedFrame>, frames, "Frames of the call stack, innermost first.", kMayBeEmpty);
};

struct HoldingSite {
  RESULT("holding site", "A call stack whose live blocks keep free memory resident.");
  FIELD(std::uint64_t, blocks, "Live blocks that keep free memory: on held_pages, or directly above free pages.");
  FIELD(std::uint64_t, smallest_bytes, "Usable bytes of the smallest of these blocks.");
  FIELD(std::uint64_t, held_pages, "Pages that are at least half free, and on which no other site has a live block.");
  FIELD(std::uint64_t, held_bytes, "Free bytes on held_pages.");
  FIELD(std::uint64_t, below_bytes, "Free whole pages between such a block and the next live block below it.");
  FIELD(std::vector<NamedFrame>, frames, "Frames of the call stack, innermost first.", kMayBeEmpty);
};

/// A moment at which the resident memory was divided.
enum class ResidentAt : std::uint8_t { kIdle, kPeak, kSignal, kEnd };
ENUM_WORDS(ResidentAt, "idle", "peak", "signal", "end")

struct ResidentMoment {
  RESULT("resident moment", "Resident memory of a process at one moment.");
  MEMBER(moment,
         "`idle`: after a second with at most 200 calls to the allocator; of several such moments, the one with the "
         "most freed memory. `peak`: before memory was returned, when the process held the most, within 5 % and 1 MiB. "
         "`signal`: when the signal of --at arrived, last. `end`: at the end of the process, or before it executed "
         "another program.");
  ResidentAt moment = ResidentAt::kEnd;
  FIELD(std::int64_t, at_ns, "Nanoseconds from the start of the run to the moment.");
  FIELD(MemoryParts, parts, "Parts of the resident memory.");
  FIELD(std::uint64_t, live_blocks, "Number of live blocks.");
  FIELD(std::vector<ResidentHeap>, heaps, "Heaps of the allocator, in descending order of resident bytes.",
        kMayBeEmpty);
  FIELD(std::vector<FreedSite>, freed, "Call stacks of freed blocks, in descending order of free_bytes.", kMayBeEmpty);
  FIELD(std::vector<HoldingSite>, holders,
        "Call stacks of live blocks that keep free memory, in descending order of held_bytes and below_bytes.",
        kMayBeEmpty);
};

struct AllocatorCount {
  RESULT("allocator count", "One of the allocator's own counts.");
  FIELD(std::string, name, "Name of the count, as in the allocator's documentation.");
  FIELD(std::uint64_t, bytes, "Its value in bytes.");
};

struct AllocatorCounts {
  RESULT("allocator counts", "The allocator's own counts at the end of the process.");
  FIELD(std::string, function, "The allocator's function that returned the counts.");
  FIELD(std::vector<AllocatorCount>, counts, "The counts.", least_items(1));
};

struct ResidentProcess {
  RESULT("resident process", "Resident memory of one process.");
  FIELD(std::int32_t, pid, "PID of the process.", least(1));
  FIELD(std::string, executable, "Path of the program.", kMayBeEmpty);
  FIELD(std::string, allocator, "The library whose calloc the process calls.");
  FIELD(std::string, why_not, "Reason why no moment, or not every block, was seen. Empty if nothing is missing.",
        kMayBeEmpty);
  FIELD(std::vector<ResidentMoment>, moments, "Moments in the order of their time.", kMayBeEmpty);
  FIELD(Measured<AllocatorCounts>, allocator_counts,
        "The allocator's own counts at the end of the process, to compare with the moment `end`. Absent from files of "
        "earlier versions.",
        kLater);

  [[nodiscard]] const ResidentMoment* find(ResidentAt at) const {
    for (const ResidentMoment& each : moments) {
      if (each.moment == at) return &each;
    }
    return nullptr;
  }
};

struct Resident {
  RESULT("resident", "Resident memory of the processes (--resident).");
  FIELD(std::vector<ResidentProcess>, processes, "Processes in the order of their start.", kMayBeEmpty);
};

}  // namespace zerotax::record
