#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "os/page.h"
#include "os/process_info.h"
#include "record/preload/resident_area.h"
#include "record/resident/result.h"

namespace zerotax::record {

/// The memory of a process at one moment.
struct HeldMemoryMap {
  std::vector<MappingMemory> mappings;                        ///< in ascending order
  std::vector<AddressRange> resident;                         ///< anonymous pages in memory, in ascending order
  std::vector<ResidentBlock> blocks;                          ///< live blocks, in ascending order
  std::map<std::uint64_t, std::vector<std::uint16_t>> marks;  ///< PageMark of each page, by page / kLeafPages
  bool is_glibc = false;                                      ///< whether the allocator is glibc's

  [[nodiscard]] std::uint16_t mark(std::uintptr_t page) const;
};

/// Live blocks of a site that keep memory.
struct Holder {
  std::uint64_t pages = 0;        ///< pages at least half free on which only blocks of this site live
  std::uint64_t free_bytes = 0;   ///< free bytes on `pages`
  std::uint64_t below_bytes = 0;  ///< free whole pages directly below a block of this site
  std::uint64_t blocks = 0;       ///< blocks of this site on `pages`, or directly above free pages
  std::uint64_t smallest = 0;     ///< usable bytes of the smallest of `blocks`

  [[nodiscard]] std::uint64_t kept_bytes() const { return free_bytes + below_bytes; }
};

/// The parts of a heap, or of other mappings together.
struct DividedHeap {
  MemoryParts parts;
  ResidentBlock last{};          ///< the live block with the highest address; bytes 0: none
  std::uint64_t below_last = 0;  ///< free whole pages below the last block
  std::uint64_t whole = 0;       ///< free whole pages, including pages under MADV_FREE
};

struct Division {
  MemoryParts parts;
  std::map<std::string, DividedHeap> heaps;
  // By ResidentBlock::site.
  std::map<std::uint32_t, std::uint64_t> freed;  ///< free whole pages by the site that had a block there last
  std::map<std::uint32_t, Holder> holders;
};

/// Divides the resident pages. Each byte of a page counts in exactly one part. Live blocks count with their usable
/// bytes on resident pages. Pages under MADV_FREE are known only as a sum for each mapping. They are taken from its
/// free whole pages, and then from the allocator's own pages.
Division divide(const HeldMemoryMap& memory);

}  // namespace zerotax::record
