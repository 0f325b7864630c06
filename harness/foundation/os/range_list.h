#pragma once

#include <cstddef>

#include "os/page.h"

namespace zerotax {

/// Sorted address ranges in separately mapped memory, so that the list never uses the allocator under test. Ranges must
/// be added in ascending order. Adjacent ranges are merged.
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
  /// Adds a range. The range is lost if there is no memory for it, or if a limit (RLIMIT_AS, RLIMIT_DATA) forbids the
  /// memory.
  void add(AddressRange range);
  /// Whether no range has been lost since the last clear().
  [[nodiscard]] bool complete() const { return complete_; }

  /// Whether an address is in one of the ranges, in O(log n).
  [[nodiscard]] bool contains(std::uintptr_t address) const;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const AddressRange* begin() const { return ranges_; }
  [[nodiscard]] const AddressRange* end() const { return ranges_ + size_; }

 private:
  bool open(std::size_t ranges);

  AddressRange* ranges_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t opened_ = 0;  ///< number of ranges for which memory is accessible
  std::size_t size_ = 0;
  bool complete_ = true;
};

}  // namespace zerotax
