#include "os/range_list.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace zerotax {
namespace {

// 64 GiB of memory in which every other page is populated: more than any point here can make. Only what is used is
// populated.
constexpr std::size_t kCapacity = std::size_t{8} << 20;

}  // namespace

RangeList::RangeList() {
  void* memory = ::mmap(nullptr, kCapacity * sizeof(AddressRange), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  // Without these few pages nothing can be measured at all, and there is no caller to tell.
  if (memory == MAP_FAILED) std::abort();
  ranges_ = static_cast<AddressRange*>(memory);
}

RangeList::~RangeList() { ::munmap(ranges_, kCapacity * sizeof(AddressRange)); }

void RangeList::add(AddressRange range) {
  if (range.bytes() == 0) return;
  if (size_ > 0 && ranges_[size_ - 1].end == range.begin) {
    ranges_[size_ - 1].end = range.end;
    return;
  }
  if (size_ == kCapacity) std::abort();
  ranges_[size_++] = range;
}

bool RangeList::contains(std::uintptr_t address) const {
  const AddressRange* after = std::upper_bound(
      begin(), end(), address, [](std::uintptr_t value, const AddressRange& range) { return value < range.begin; });
  return after != begin() && address < (after - 1)->end;
}

}  // namespace zerotax
