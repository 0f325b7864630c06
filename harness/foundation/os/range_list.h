#pragma once

#include <cstddef>

#include "os/page.h"

namespace zerotax {

/// Sorted address ranges in memory of its own (mmap), so that the allocator under test is never used to describe
/// itself. Ranges must be added in ascending order; neighbours that touch are joined.
class RangeList {
 public:
  RangeList();
  ~RangeList();
  RangeList(const RangeList&) = delete;
  RangeList& operator=(const RangeList&) = delete;

  void clear() {
    size_ = 0;
    complete_ = true;
  }
  /// A range for which there is no memory, or none that the process may have (RLIMIT_AS, RLIMIT_DATA), is lost.
  void add(AddressRange range);
  /// Whether none was lost since the last clear().
  [[nodiscard]] bool complete() const { return complete_; }

  /// Whether an address lies in one of the ranges: O(log n).
  [[nodiscard]] bool contains(std::uintptr_t address) const;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const AddressRange* begin() const { return ranges_; }
  [[nodiscard]] const AddressRange* end() const { return ranges_ + size_; }

 private:
  bool open(std::size_t ranges);

  AddressRange* ranges_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t opened_ = 0;  ///< ranges that there is memory for
  std::size_t size_ = 0;
  bool complete_ = true;
};

}  // namespace zerotax
