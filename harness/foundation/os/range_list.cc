#include "os/range_list.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>

namespace zerotax {
namespace {

// Capacity for 64 GiB of memory in which every other page is populated. No point needs as many ranges. Only used
// capacity is populated.
constexpr std::size_t kCapacity = std::size_t{8} << 20;
constexpr std::size_t kFirst = 4096;

// Static lists for a process with little or no address space left. These lists suffice unless memory is very
// fragmented.
constexpr std::size_t kSpares = 24;
constexpr std::size_t kSpareCapacity = 1024;
AddressRange spares[kSpares][kSpareCapacity];
bool spare_taken[kSpares];

AddressRange* take_spare() {
  for (std::size_t i = 0; i < kSpares; ++i) {
    if (!__atomic_exchange_n(&spare_taken[i], true, __ATOMIC_ACQ_REL)) return &spares[i][0];
  }
  return nullptr;
}

bool is_limited() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

RangeList::RangeList() {
  // The mapping is inaccessible at first. If it were accessible, the kernel would populate all of it in a process that
  // locks its memory now or later.
  for (capacity_ = is_limited() ? 0 : kCapacity; capacity_ >= kFirst; capacity_ /= 2) {
    void* memory = ::mmap(nullptr, capacity_ * sizeof(AddressRange), PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    ::munlock(memory, capacity_ * sizeof(AddressRange));
    ranges_ = static_cast<AddressRange*>(memory);
    if (open(kFirst)) return;
    ::munmap(memory, capacity_ * sizeof(AddressRange));
    break;
  }
  ranges_ = take_spare();
  capacity_ = opened_ = ranges_ != nullptr ? kSpareCapacity : 0;
}

RangeList::~RangeList() {
  for (std::size_t i = 0; i < kSpares; ++i) {
    if (ranges_ != &spares[i][0]) continue;
    __atomic_store_n(&spare_taken[i], false, __ATOMIC_RELEASE);
    return;
  }
  if (ranges_ != nullptr) ::munmap(ranges_, capacity_ * sizeof(AddressRange));
}

bool RangeList::open(std::size_t ranges) {
  if (ranges > capacity_ || ::mprotect(ranges_, ranges * sizeof(AddressRange), PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  opened_ = ranges;
  return true;
}

void RangeList::add(AddressRange range) {
  if (range.bytes() == 0) return;
  if (size_ > 0 && ranges_[size_ - 1].end == range.begin) {
    ranges_[size_ - 1].end = range.end;
    return;
  }
  if (size_ == opened_ && (opened_ == 0 || !open(2 * opened_))) {
    complete_ = false;
    return;
  }
  ranges_[size_++] = range;
}

bool RangeList::contains(std::uintptr_t address) const {
  const AddressRange* after = std::upper_bound(
      begin(), end(), address, [](std::uintptr_t value, const AddressRange& range) { return value < range.begin; });
  return after != begin() && address < (after - 1)->end;
}

}  // namespace zerotax
