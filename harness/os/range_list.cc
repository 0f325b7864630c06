#include "os/range_list.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace zerotax {
namespace {

// 64 GiB of memory in which every other page is populated: more than any point here can make. Only what is used is
// populated.
constexpr std::size_t kCapacity = std::size_t{8} << 20;
constexpr std::size_t kFirst = 4096;

}  // namespace

RangeList::RangeList() {
  // Closed at first: a process that has its memory locked, now or later, would have all of it populated.
  for (capacity_ = kCapacity; capacity_ >= kFirst; capacity_ /= 2) {
    void* memory = ::mmap(nullptr, capacity_ * sizeof(AddressRange), PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    ::munlock(memory, capacity_ * sizeof(AddressRange));
    ranges_ = static_cast<AddressRange*>(memory);
    open(kFirst);
    return;
  }
  // Without these few pages nothing can be measured, and no caller could handle an error.
  std::abort();
}

RangeList::~RangeList() { ::munmap(ranges_, capacity_ * sizeof(AddressRange)); }

void RangeList::open(std::size_t ranges) {
  if (ranges > capacity_ || ::mprotect(ranges_, ranges * sizeof(AddressRange), PROT_READ | PROT_WRITE) != 0) {
    std::abort();
  }
  opened_ = ranges;
}

void RangeList::add(AddressRange range) {
  if (range.bytes() == 0) return;
  if (size_ > 0 && ranges_[size_ - 1].end == range.begin) {
    ranges_[size_ - 1].end = range.end;
    return;
  }
  if (size_ == opened_) open(2 * opened_);
  ranges_[size_++] = range;
}

bool RangeList::contains(std::uintptr_t address) const {
  const AddressRange* after = std::upper_bound(
      begin(), end(), address, [](std::uintptr_t value, const AddressRange& range) { return value < range.begin; });
  return after != begin() && address < (after - 1)->end;
}

}  // namespace zerotax
