#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zerotax::record {

/// Blocks by their address, for several threads, without a lock. `Block` has a member `begin`, which is never 0. In
/// memory that is not part of the program's anonymous memory.
template <typename Block>
class BlockTable {
 public:
  /// Maps it, empty or (`keep`) with the blocks that it has: in a child of fork, whose parent keeps the memory
  /// that both see. Without memory for it, nothing is remembered. `unknown`: an address of none of the blocks may be
  /// asked for, and is to be told apart by the caller.
  void open(bool keep, bool unknown) {
    // Shared: the kernel counts it as shared memory, not as the program's anonymous memory.
    void* const memory =
        ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    Table* const before = table_;
    table_ = memory == MAP_FAILED ? nullptr : static_cast<Table*>(memory);
    if (keep && before != nullptr && table_ != nullptr) copy(*before);
    if (before != nullptr) ::munmap(static_cast<void*>(before), sizeof(Table));
    if (keep && table_ != nullptr) return;
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
    if (table_ == nullptr) return false;
    const auto* const address = reinterpret_cast<const void*>(block.begin);
    // One that was freed behind our back may still be there.
    Block stale;
    if (may_have(address)) take(address, stale);
    return find_slot(block.begin, kLevels, [&](std::atomic<std::uintptr_t>& slot, std::size_t index) {
      std::uintptr_t expected = 0;
      if (!slot.compare_exchange_strong(expected, block.begin)) return false;
      table_->blocks[index] = block;
      use_level(index);
      count(address, 1);
      return true;
    });
  }

  /// Forgets a block and says what it was; false if it is not remembered.
  bool take(const void* block, Block& found) {
    const auto begin = reinterpret_cast<std::uintptr_t>(block);
    return find_slot(begin, levels_used_, [&](std::atomic<std::uintptr_t>& slot, std::size_t index) {
      if (slot.load(std::memory_order_relaxed) != begin) return false;
      found = table_->blocks[index];
      slot = 0;
      count(block, -1);
      return true;
    });
  }

  /// Calls visit(context, block) for each; what it changes is kept.
  void for_each(void (*visit)(void* context, Block& block), void* context) {
    for (std::size_t i = 0; i < buckets_of(levels_used_) * kSlots; ++i) {
      if (table_->buckets[i / kSlots].begins[i % kSlots] != 0) visit(context, table_->blocks[i]);
    }
  }

 private:
  // A bucket of eight addresses is one line of the cache. Level k has 64 << k buckets, and is used when a bucket of the
  // level above is full, so that few blocks take few pages: 2 million blocks in all.
  static constexpr std::size_t kSlots = 8;
  static constexpr std::size_t kFirstBuckets = 64;
  static constexpr std::size_t kLevels = 12;
  static constexpr std::size_t buckets_of(std::size_t levels) {
    return kFirstBuckets * ((std::size_t{1} << levels) - 1);
  }
  static constexpr std::size_t kBuckets = buckets_of(kLevels);
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
  struct Table {
    Bucket buckets[kBuckets];
    Block blocks[kBuckets * kSlots];
  };

  static std::size_t bucket_of(std::uintptr_t begin, std::size_t level) {
    const std::uint64_t hash = (begin >> 4) * 0x9e3779b97f4a7c15;
    return buckets_of(level) + (hash >> 40) % (kFirstBuckets << level);
  }

  /// Calls visit(slot, index) for the slots where a block may be, until it returns true.
  template <typename Visit>
  bool find_slot(std::uintptr_t begin, std::size_t levels, Visit visit) {
    for (std::size_t level = 0; level < levels; ++level) {
      const std::size_t bucket = bucket_of(begin, level);
      for (std::size_t i = 0; i < kSlots; ++i) {
        if (visit(table_->buckets[bucket].begins[i], bucket * kSlots + i)) return true;
      }
    }
    return false;
  }

  /// One more or less; what cannot be counted is no longer known.
  void count(const void* block, int change) {
    std::atomic<std::uint8_t>& filter = filters_[filter_of(block)];
    std::uint8_t known = filter;
    while (known != kUnknown && !filter.compare_exchange_weak(known, static_cast<std::uint8_t>(known + change))) {
    }
  }

  void use_level(std::size_t index) {
    std::size_t level = 0;
    while (index / kSlots >= buckets_of(level + 1)) ++level;
    std::size_t used = levels_used_;
    while (used < level + 1 && !levels_used_.compare_exchange_weak(used, level + 1)) {
    }
  }

  void copy(const Table& from) {
    for (std::size_t i = 0; i < buckets_of(levels_used_) * kSlots; ++i) {
      const std::uintptr_t begin = from.buckets[i / kSlots].begins[i % kSlots];
      if (begin == 0) continue;
      table_->buckets[i / kSlots].begins[i % kSlots] = begin;
      table_->blocks[i] = from.blocks[i];
    }
  }

  std::atomic<std::uint8_t> filters_[kFilters];
  Table* table_ = nullptr;
  std::atomic<std::size_t> levels_used_{0};
};

}  // namespace zerotax::record
