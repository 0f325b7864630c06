#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zerotax::record {

/// Numbers of blocks by address: open addressing, for a look-up for each recorded call.
class AddressMap {
 public:
  struct Entry {
    std::uint64_t address = 0;  ///< 0: free
    std::uint64_t block = 0;
  };

  [[nodiscard]] const Entry* find(std::uint64_t address) const {
    std::size_t place = place_of(address);
    while (entries_[place].address != 0 && entries_[place].address != address) place = (place + 1) & mask();
    return entries_[place].address != 0 ? &entries_[place] : nullptr;
  }

  /// It will be asked for soon.
  void prefetch(std::uint64_t address) const { __builtin_prefetch(&entries_[place_of(address)]); }

  /// One that is not there.
  void insert(std::uint64_t address, std::uint64_t block) {
    if ((size_ + 1) * 2 > entries_.size()) grow();
    std::size_t place = place_of(address);
    while (entries_[place].address != 0) place = (place + 1) & mask();
    entries_[place] = {address, block};
    ++size_;
  }

  /// One that `find` returned. What follows it moves up, so that no search ends too early (Knuth, TAOCP 3, 6.4 R).
  void erase(const Entry* found) {
    auto hole = static_cast<std::size_t>(found - entries_.data());
    for (std::size_t i = (hole + 1) & mask(); entries_[i].address != 0; i = (i + 1) & mask()) {
      const std::size_t wanted = place_of(entries_[i].address);
      if (((i - wanted) & mask()) < ((i - hole) & mask())) continue;
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole] = {};
    --size_;
  }

 private:
  [[nodiscard]] std::size_t mask() const { return entries_.size() - 1; }
  [[nodiscard]] std::size_t place_of(std::uint64_t address) const {
    return ((address >> 4) * 0x9e3779b97f4a7c15 >> 20) & mask();
  }
  void grow() {
    std::vector<Entry> before = std::exchange(entries_, std::vector<Entry>(entries_.size() * 2));
    size_ = 0;
    for (const Entry& entry : before) {
      if (entry.address != 0) insert(entry.address, entry.block);
    }
  }

  std::vector<Entry> entries_ = std::vector<Entry>(256);
  std::size_t size_ = 0;
};

}  // namespace zerotax::record
