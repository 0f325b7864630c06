#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/preload/shared_memory.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// A table of blocks by their address, which several threads use without a lock. `Block` has a member `begin`, which is
/// never 0. The table's memory does not count as the program's anonymous memory.
template <typename Block, std::size_t kLevels = 12>
class BlockTable {
 public:
  using VisitBlock = void (*)(void* context, Block& block);

  /// Empties the table. With `keep`, copies its blocks to new memory instead, because a child of fork would otherwise
  /// share the table's memory with its parent. `unknown`: may_have() must return true for every address, because the
  /// caller handles unknown blocks itself. `storage`: zeroed memory of bytes() for the table, which outlives it;
  /// nullptr: the table maps its own memory.
  void open(bool keep, bool unknown, std::byte* storage = nullptr) {
    const bool had_own = storage_ == nullptr;
    storage_ = storage;
    for (std::size_t level = 0; level < kLevels; ++level) {
      std::byte* const before = levels_[level];
      levels_[level] = nullptr;
      if (before == nullptr) continue;
      if (keep && level < levels_used_) copy(before, level);
      const OwnWork own;
      if (had_own) ::munmap(before, bytes_of(level));
    }
    if (keep) return;
    // A filter is written only if it must change, because the write would populate a page in every program that starts.
    const std::uint8_t first = unknown ? kUnknown : 0;
    for (auto& filter : filters_) {
      if (filter.load(std::memory_order_relaxed) != first) filter = first;
    }
    levels_used_ = 0;
  }

  /// Whether a block may be in the table. Every free calls this function first. The answer is usually false, because
  /// most C++ programs have only a few remembered blocks.
  [[nodiscard]] bool may_have(const void* block) const {
    return filters_[filter_of(block)].load(std::memory_order_relaxed) != 0;
  }

  /// Remembers a block. Returns false if there is no room.
  bool remember(const Block& block) {
    const auto* const address = reinterpret_cast<const void*>(block.begin);
    // The table may still contain an old block at this address, whose free was not seen.
    Block stale;
    if (may_have(address)) take(address, stale);
    for (std::size_t level = 0; level < kLevels && have_level(level); ++level) {
      const auto put = [&](std::atomic<std::uintptr_t>& slot, Block& room) {
        std::uintptr_t expected = 0;
        if (!slot.compare_exchange_strong(expected, block.begin)) return false;
        room = block;
        use_level(level);
        count(address, 1);
        return true;
      };
      if (find_slot(block.begin, level, put)) return true;
    }
    return false;
  }

  /// Removes a block and copies its data to `found`. Returns false if the table does not contain the block.
  bool take(const void* block, Block& found) {
    const auto begin = reinterpret_cast<std::uintptr_t>(block);
    const auto forget = [&](std::atomic<std::uintptr_t>& slot, Block& known) {
      if (slot.load(std::memory_order_relaxed) != begin) return false;
      found = known;
      slot = 0;
      count(block, -1);
      return true;
    };
    for (std::size_t level = 0; level < levels_used_; ++level) {
      if (levels_[level] != nullptr && find_slot(begin, level, forget)) return true;
    }
    return false;
  }

  /// Calls visit(context, block) for each block. The visit may change the block.
  void for_each(VisitBlock visit, void* context) {
    for (std::size_t level = 0; level < levels_used_; ++level) {
      if (levels_[level] != nullptr) for_each_in(levels_[level], level, visit, context);
    }
  }

  /// Visits the blocks in the memory of a level, or in a copy of that memory.
  static void for_each_in(std::byte* memory, std::size_t level, VisitBlock visit, void* context) {
    for_each_slot(memory, level, [&](std::atomic<std::uintptr_t>& slot, Block& block) {
      if (slot != 0) visit(context, block);
    });
  }

  static constexpr std::size_t levels() { return kLevels; }
  static constexpr std::size_t bytes_of(std::size_t level) {
    return buckets_of(level) * (sizeof(Bucket) + kSlots * sizeof(Block));
  }
  /// Offset of a level within the storage.
  static constexpr std::size_t offset_of(std::size_t level) { return bytes_of(level) - bytes_of(0); }
  static constexpr std::size_t bytes() { return offset_of(kLevels); }

 private:
  // A bucket of eight addresses is one cache line. Level k has 64 << k buckets; twelve levels together have room for 2
  // million blocks. A level is mapped when a bucket of the level above is full. A few blocks therefore take few pages,
  // and little of the program's address space (RLIMIT_AS).
  static constexpr std::size_t kSlots = 8;
  static constexpr std::size_t kFirstBuckets = 64;
  /// Number of filters. A filter counts the blocks whose addresses have the same hash; kUnknown: the count is not
  /// known.
  static constexpr std::size_t kFilters = 1024;
  static constexpr std::uint8_t kUnknown = 255;
  static std::size_t filter_of(const void* block) {
    constexpr unsigned kShift = 64 - 10;  // a hash has 64 bits, and kFilters is 2^10
    return ((reinterpret_cast<std::uintptr_t>(block) >> 4) * 0x9e3779b97f4a7c15) >> kShift;
  }

  struct alignas(64) Bucket {
    std::atomic<std::uintptr_t> begins[kSlots];  ///< 0: free
  };
  static constexpr std::size_t buckets_of(std::size_t level) { return kFirstBuckets << level; }

  /// The addresses of a level lie before its blocks.
  static std::atomic<std::uintptr_t>& slot_at(std::byte* memory, std::size_t index) {
    return reinterpret_cast<Bucket*>(memory)[index / kSlots].begins[index % kSlots];
  }
  static Block& block_at(std::byte* memory, std::size_t level, std::size_t index) {
    return reinterpret_cast<Block*>(memory + buckets_of(level) * sizeof(Bucket))[index];
  }

  /// Maps a level if it is not mapped yet. Returns false if there is no memory for the level.
  bool have_level(std::size_t level) {
    if (levels_[level] != nullptr) return true;
    if (storage_ != nullptr) {
      levels_[level] = storage_ + offset_of(level);
      return true;
    }
    const OwnWork own;
    // The mapping is shared, so that the kernel does not count it as the program's anonymous memory.
    void* const memory =
        ::mmap(nullptr, bytes_of(level), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    std::byte* none = nullptr;
    // Another thread may have mapped the level first.
    if (!levels_[level].compare_exchange_strong(none, static_cast<std::byte*>(memory))) {
      ::munmap(memory, bytes_of(level));
    } else {
      note_own_mapping(memory, bytes_of(level));
    }
    return true;
  }

  /// Calls visit(slot, block) for the slots of a level that may hold a block, until a call of visit() returns true.
  template <typename Visit>
  bool find_slot(std::uintptr_t begin, std::size_t level, Visit visit) {
    const std::uint64_t hash = (begin >> 4) * 0x9e3779b97f4a7c15;
    const std::size_t first = (hash >> 40) % buckets_of(level) * kSlots;
    std::byte* const memory = levels_[level];
    for (std::size_t i = first; i < first + kSlots; ++i) {
      if (visit(slot_at(memory, i), block_at(memory, level, i))) return true;
    }
    return false;
  }

  template <typename Visit>
  static void for_each_slot(std::byte* memory, std::size_t level, Visit visit) {
    for (std::size_t i = 0; i < buckets_of(level) * kSlots; ++i) visit(slot_at(memory, i), block_at(memory, level, i));
  }

  /// Changes the count of a filter. A count that overflows becomes unknown.
  void count(const void* block, int change) {
    std::atomic<std::uint8_t>& filter = filters_[filter_of(block)];
    std::uint8_t known = filter;
    while (known != kUnknown && !filter.compare_exchange_weak(known, static_cast<std::uint8_t>(known + change))) {
    }
  }

  void use_level(std::size_t level) {
    std::size_t used = levels_used_;
    while (used < level + 1 && !levels_used_.compare_exchange_weak(used, level + 1)) {
    }
  }

  /// Copies a level. If there is no memory for the copy, the child forgets the blocks of the level.
  void copy(std::byte* from, std::size_t level) {
    std::size_t index = 0;
    std::byte* const to = have_level(level) ? levels_[level].load() : nullptr;
    for_each_slot(from, level, [&](std::atomic<std::uintptr_t>& slot, Block& block) {
      if (slot != 0 && to != nullptr) {
        slot_at(to, index) = slot.load();
        block_at(to, level, index) = block;
      }
      ++index;
    });
  }

  std::atomic<std::uint8_t> filters_[kFilters];
  std::atomic<std::byte*> levels_[kLevels];  ///< a level that is not mapped is nullptr
  std::atomic<std::size_t> levels_used_{0};
  std::byte* storage_ = nullptr;
};

}  // namespace zerotax::record
