#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/preload/shared_memory.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// Blocks by their address, for several threads, without a lock. `Block` has a member `begin`, which is never 0. In
/// memory that is not part of the program's anonymous memory.
template <typename Block>
class BlockTable {
 public:
  /// Empties the table, or (`keep`) keeps its blocks: in a child of fork, whose parent keeps the memory that both see.
  /// `unknown`: the caller may ask for an address that belongs to no block, and handles that case itself.
  void open(bool keep, bool unknown) {
    for (std::size_t level = 0; level < kLevels; ++level) {
      std::byte* const before = levels_[level];
      levels_[level] = nullptr;
      if (before == nullptr) continue;
      if (keep && level < levels_used_) copy(before, level);
      const OwnWork own;
      ::munmap(before, bytes_of(level));
    }
    if (keep) return;
    // Written to only where it must be: a page of it is a page fault of every program that starts.
    const std::uint8_t first = unknown ? kUnknown : 0;
    for (auto& filter : filters_) {
      if (filter.load(std::memory_order_relaxed) != first) filter = first;
    }
    levels_used_ = 0;
  }

  /// Whether a block may be remembered: the one question that every free asks, for there are a few in every C++
  /// program.
  [[nodiscard]] bool may_have(const void* block) const {
    return filters_[filter_of(block)].load(std::memory_order_relaxed) != 0;
  }

  /// Remembers a block; returns false if there is no room.
  bool remember(const Block& block) {
    const auto* const address = reinterpret_cast<const void*>(block.begin);
    // One that was freed behind our back may still be there.
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

  /// Forgets a block and says what it was; false if it is not remembered.
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

  /// Calls visit(context, block) for each; what it changes is kept.
  void for_each(void (*visit)(void* context, Block& block), void* context) {
    for (std::size_t level = 0; level < levels_used_; ++level) {
      if (levels_[level] == nullptr) continue;
      for_each_slot(levels_[level], level, [&](std::atomic<std::uintptr_t>& slot, Block& block) {
        if (slot != 0) visit(context, block);
      });
    }
  }

 private:
  // A bucket of eight addresses is one cache line. Level k has 64 << k buckets, 2 million blocks in all levels. A level
  // is mapped and used when a bucket of the level above is full. So few blocks take few pages, and little of the
  // program's address space (RLIMIT_AS).
  static constexpr std::size_t kSlots = 8;
  static constexpr std::size_t kFirstBuckets = 64;
  static constexpr std::size_t kLevels = 12;
  /// How many may be at an address, by a hash of it. kUnknown: it is no longer known.
  static constexpr std::size_t kFilters = 1024;
  static constexpr std::uint8_t kUnknown = 255;
  static std::size_t filter_of(const void* block) {
    constexpr unsigned kShift = 64 - 10;  // 2^10 is kFilters
    return ((reinterpret_cast<std::uintptr_t>(block) >> 4) * 0x9e3779b97f4a7c15) >> kShift;
  }

  struct alignas(64) Bucket {
    std::atomic<std::uintptr_t> begins[kSlots];  ///< 0: free
  };
  static constexpr std::size_t buckets_of(std::size_t level) { return kFirstBuckets << level; }
  static constexpr std::size_t bytes_of(std::size_t level) {
    return buckets_of(level) * (sizeof(Bucket) + kSlots * sizeof(Block));
  }

  /// The addresses of a level lie before its blocks.
  static std::atomic<std::uintptr_t>& slot_at(std::byte* memory, std::size_t index) {
    return reinterpret_cast<Bucket*>(memory)[index / kSlots].begins[index % kSlots];
  }
  static Block& block_at(std::byte* memory, std::size_t level, std::size_t index) {
    return reinterpret_cast<Block*>(memory + buckets_of(level) * sizeof(Bucket))[index];
  }

  /// Maps a level that has not been used yet. Returns false if there is no memory for it.
  bool have_level(std::size_t level) {
    if (levels_[level] != nullptr) return true;
    const OwnWork own;
    // A shared mapping, which the kernel does not count as the program's anonymous memory.
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

  /// Calls visit(slot, block) for the slots of a level that may hold a block, until the call returns true.
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

  /// One more or less; what cannot be counted is no longer known.
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

  /// If there is no memory for them, the blocks of the level are forgotten.
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
  std::atomic<std::byte*> levels_[kLevels];  ///< nullptr: not mapped
  std::atomic<std::size_t> levels_used_{0};
};

}  // namespace zerotax::record
