#pragma once

#include <cstddef>

#include "os/page.h"

namespace zerotax {

/// Address ranges in any order, in place: what a handler of a signal may keep. A range beyond kCapacity is lost, and
/// full() says so.
class FewRanges {
 public:
  static constexpr std::size_t kCapacity = 256;

  void clear() {
    size_ = 0;
    full_ = false;
  }
  void add(AddressRange range) {
    if (range.bytes() == 0) return;
    // A heap that grows step by step, or pages given back one by one.
    if (size_ > 0 && ranges_[size_ - 1].end == range.begin) {
      ranges_[size_ - 1].end = range.end;
    } else if (size_ < kCapacity) {
      ranges_[size_++] = range;
    } else {
      full_ = true;
    }
  }
  [[nodiscard]] bool contains(std::uintptr_t address) const {
    for (std::size_t i = 0; i < size_; ++i) {
      if (address >= ranges_[i].begin && address < ranges_[i].end) return true;
    }
    return false;
  }
  [[nodiscard]] const AddressRange* begin() const { return &ranges_[0]; }
  [[nodiscard]] const AddressRange* end() const { return &ranges_[size_]; }
  [[nodiscard]] bool full() const { return full_; }

 private:
  AddressRange ranges_[kCapacity];
  std::size_t size_ = 0;
  bool full_ = false;
};

}  // namespace zerotax
