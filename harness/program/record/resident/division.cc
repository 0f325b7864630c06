#include "record/resident/division.h"

#include <fmt/format.h>

#include <algorithm>

namespace zerotax::record {
namespace {

/// Distance between the heaps of glibc's threads (HEAP_MAX_SIZE in malloc/arena.c).
constexpr std::uint64_t kThreadHeapBytes = std::uint64_t{64} << 20;

enum class Part { kFree, kFragmented, kAllocator, kStack, kOther };

std::uint64_t& of(MemoryParts& parts, Part part) {
  switch (part) {
    case Part::kFree:
      return parts.free_bytes;
    case Part::kFragmented:
      return parts.fragmented_bytes;
    case Part::kAllocator:
      return parts.allocator_bytes;
    case Part::kStack:
      return parts.stack_bytes;
    case Part::kOther:
      break;
  }
  return parts.other_bytes;
}

/// Divides one process's memory, page by page in ascending order.
class Divider {
 public:
  explicit Divider(const HeldMemoryMap& memory) : memory_(memory) {}

  Division run() {
    std::size_t next = 0;
    const auto& resident = memory_.resident;
    for (const MappingMemory& mapping : memory_.mappings) {
      mapping_ = &mapping;
      has_blocks_ = has_blocks(mapping);
      run_ = {};
      offered_ = mapping.lazy;
      own_ = 0;
      const std::uintptr_t end = mapping.begin + mapping.mapped;
      while (next < resident.size() && resident[next].end <= mapping.begin) ++next;
      for (; next < resident.size() && resident[next].begin < end; ++next) {
        const AddressRange range = resident[next].intersect({mapping.begin, end});
        for (std::uintptr_t page = range.begin; page < range.end; page += page_bytes()) add_page(page);
        if (resident[next].end > end) break;
      }
      end_run({});
      take_offered(std::min(offered_, own_), Part::kAllocator);
    }
    return std::move(division_);
  }

 private:
  /// Whether any page of a mapping has held a block.
  [[nodiscard]] bool has_blocks(const MappingMemory& mapping) const {
    const std::uint64_t begin = mapping.begin / page_bytes();
    const std::uint64_t end = (mapping.begin + mapping.mapped) / page_bytes();
    for (auto leaf = memory_.marks.lower_bound(begin / kLeafPages); leaf != memory_.marks.end(); ++leaf) {
      const std::uint64_t first = leaf->first * kLeafPages;
      if (first >= end) break;
      for (std::uint64_t page = std::max(first, begin); page < std::min(first + kLeafPages, end); ++page) {
        if (leaf->second[page - first] >= kFirstSite) return true;
      }
    }
    return false;
  }

  [[nodiscard]] Part part_of(std::uint16_t mark) const {
    if (mark >= kFirstSite || mark == kUnmapping) return Part::kFree;
    if (mark == kOfAllocator) return Part::kAllocator;
    if (mark == kOfStack || mapping_->name.starts_with("[stack")) return Part::kStack;
    if (mark == kOfProgram) return Part::kOther;
    // Memory that was mapped before the recording began belongs to the allocator if blocks lie in it.
    return has_blocks_ || mapping_->name == "[heap]" ? Part::kAllocator : Part::kOther;
  }

  DividedHeap& heap_of(std::uintptr_t page) {
    if (mapping_->name == "[heap]") return division_.heaps[memory_.is_glibc ? "main heap" : "[heap]"];
    const std::uintptr_t aligned = page & ~(kThreadHeapBytes - 1);
    if (!memory_.is_glibc || mapping_->begin % kThreadHeapBytes != 0) return division_.heaps["other mappings"];
    std::string& name = thread_heaps_[aligned];
    if (name.empty()) name = fmt::format("thread heap {}", thread_heaps_.size());
    return division_.heaps[name];
  }

  void add_page(std::uintptr_t page) {
    page_ = page;
    const std::uintptr_t end = page + page_bytes();
    while (block_ < memory_.blocks.size() && memory_.blocks[block_].end() <= page) ++block_;
    std::uint64_t live = 0;
    std::size_t last = block_;
    for (; last < memory_.blocks.size() && memory_.blocks[last].begin < end; ++last) {
      const ResidentBlock& block = memory_.blocks[last];
      live += range_of(reinterpret_cast<const void*>(block.begin), block.bytes).intersect({page, end}).bytes();
    }
    // Blocks overlap if a block was freed unseen.
    live = std::min<std::uint64_t>(live, page_bytes());
    const std::uint16_t mark = memory_.mark(page / page_bytes());
    const Part part = live != 0 ? Part::kFragmented : part_of(mark);
    const std::uint64_t rest = page_bytes() - live;
    const bool is_heap = part == Part::kFree || part == Part::kFragmented || part == Part::kAllocator;
    DividedHeap* const heap = is_heap ? &heap_of(page) : nullptr;
    const auto add_to = [&](MemoryParts& parts) {
      parts.resident_bytes += page_bytes();
      parts.live_bytes += live;
      of(parts, part) += rest;
    };
    add_to(division_.parts);
    if (heap != nullptr) add_to(heap->parts);
    if (part == Part::kAllocator) own_ += rest;
    if (part == Part::kFree) {
      division_.freed[mark >= kFirstSite ? mark - kFirstSite : 0] += rest;
      run_ += rest;
      heap->whole += rest;
      take_offered(std::min(offered_, rest), part);
    } else if (live != 0) {
      note_live(last, rest, *heap);
    }
  }

  /// Moves bytes under MADV_FREE from a part of the heap of the last page.
  void take_offered(std::uint64_t bytes, Part part) {
    if (bytes == 0) return;
    offered_ -= bytes;
    for (MemoryParts* parts : {&division_.parts, &heap_of(page_).parts}) {
      of(*parts, part) -= bytes;
      parts->offered_bytes += bytes;
    }
  }

  /// Notes the live blocks of a page, from block_ to the block before `last`.
  void note_live(std::size_t last, std::uint64_t rest, DividedHeap& heap) {
    const ResidentBlock& first = memory_.blocks[block_];
    end_run(first);
    heap.last = memory_.blocks[last - 1];
    heap.below_last = heap.whole;
    const bool is_one_site = std::all_of(memory_.blocks.begin() + static_cast<std::ptrdiff_t>(block_),
                                         memory_.blocks.begin() + static_cast<std::ptrdiff_t>(last),
                                         [&](const ResidentBlock& each) { return each.site == first.site; });
    if (!is_one_site || rest < page_bytes() / 2) return;
    Holder& holder = division_.holders[first.site];
    ++holder.pages;
    holder.free_bytes += rest;
    for (std::size_t i = block_; i < last; ++i) note_holder(holder, memory_.blocks[i]);
  }

  /// Ends a hole of free whole pages below a live block.
  void end_run(const ResidentBlock& above) {
    if (run_ != 0 && above.bytes != 0) {
      Holder& holder = division_.holders[above.site];
      holder.below_bytes += run_;
      note_holder(holder, above);
    }
    run_ = 0;
  }

  void note_holder(Holder& holder, const ResidentBlock& block) {
    if (holder.smallest == 0 || block.bytes < holder.smallest) holder.smallest = block.bytes;
    if (block.begin == noted_) return;
    noted_ = block.begin;
    ++holder.blocks;
  }

  const HeldMemoryMap& memory_;
  Division division_;
  const MappingMemory* mapping_ = nullptr;
  bool has_blocks_ = false;
  std::uint64_t run_ = 0;      ///< bytes of the free whole pages since the last live block of the mapping
  std::uint64_t offered_ = 0;  ///< bytes under MADV_FREE in the mapping that have not been taken from a part yet
  std::uint64_t own_ = 0;      ///< bytes of the mapping in pages of the allocator
  std::uintptr_t page_ = 0;
  std::size_t block_ = 0;  ///< first block that ends after the page
  std::uintptr_t noted_ = 0;
  std::map<std::uintptr_t, std::string> thread_heaps_;
};

}  // namespace

std::uint16_t HeldMemoryMap::mark(std::uintptr_t page) const {
  const auto leaf = marks.find(page / kLeafPages);
  return leaf == marks.end() ? std::uint16_t{kUnmarked} : leaf->second[page % kLeafPages];
}

Division divide(const HeldMemoryMap& memory) { return Divider(memory).run(); }

}  // namespace zerotax::record
