#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>

#include "record/calls/shared_array.h"

namespace zerotax::record {

/// A hash map from addresses to block numbers. The map uses open addressing for speed, because each recorded call looks
/// up an address. A copy shares the memory of the original until one of the two changes.
class AddressMap {
 public:
  /// Returns the block at an address.
  [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t address) const {
    const std::size_t place = place_with(address);
    const Entry entry = entries_.at(place);
    return entry.address != 0 ? std::optional(entry.block) : std::nullopt;
  }

  /// Prefetches the entry of an address before it is looked up.
  void prefetch(std::uint64_t address) const {
    if (const Entry* const entry = entries_.find(place_of(address))) __builtin_prefetch(entry);
  }

  /// Inserts a block at an address that is not in the map.
  void insert(std::uint64_t address, std::uint64_t block) {
    if ((size_ + 1) * 2 > capacity_) grow();
    entries_.edit(place_with(address)) = {address, block};
    ++size_;
  }

  /// Removes the block at an address. Later entries move up, so that no search ends too early (Knuth, TAOCP 3, 6.4 R).
  std::optional<std::uint64_t> take(std::uint64_t address) {
    std::size_t hole = place_with(address);
    const Entry found = entries_.at(hole);
    if (found.address == 0) return std::nullopt;
    std::size_t i = hole;
    for (;;) {
      i = (i + 1) & mask();
      const Entry next = entries_.at(i);
      if (next.address == 0) break;
      if (((i - place_of(next.address)) & mask()) < ((i - hole) & mask())) continue;
      entries_.edit(hole) = next;
      hole = i;
    }
    entries_.edit(hole) = {};
    --size_;
    return found.block;
  }

 private:
  struct Entry {
    std::uint64_t address = 0;  ///< 0: free
    std::uint64_t block = 0;
  };

  /// A random factor, so that no program can choose addresses that all collide.
  static std::uint64_t secret_factor() {
    static const std::uint64_t factor = [] {
      std::random_device random;
      return (std::uint64_t{random()} << 32 | random()) | 1;
    }();
    return factor;
  }
  [[nodiscard]] std::size_t mask() const { return capacity_ - 1; }
  [[nodiscard]] std::size_t place_of(std::uint64_t address) const { return ((address >> 4) * factor_ >> 20) & mask(); }
  /// Returns the index of an address, or the index at which the address would be inserted.
  [[nodiscard]] std::size_t place_with(std::uint64_t address) const {
    std::size_t place = place_of(address);
    for (;; place = (place + 1) & mask()) {
      const Entry* const entry = entries_.find(place);
      if (entry == nullptr || entry->address == 0 || entry->address == address) return place;
    }
  }
  void grow() {
    const SharedArray<Entry> before = std::exchange(entries_, SharedArray<Entry>());
    const std::size_t places = std::exchange(capacity_, capacity_ * 2);
    for (std::size_t i = 0; i < places; ++i) {
      const Entry* const entry = before.find(i);
      if (entry != nullptr && entry->address != 0) entries_.edit(place_with(entry->address)) = *entry;
    }
  }

  SharedArray<Entry> entries_;
  std::size_t capacity_ = 256;
  std::size_t size_ = 0;
  std::uint64_t factor_ = secret_factor();
};

}  // namespace zerotax::record
