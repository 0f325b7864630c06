#include "record/preload/examine.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "meter/contents.h"
#include "record/preload/kept_file.h"
#include "record/preload/own_memory.h"
#include "record/preload/own_stack.h"
#include "record/preload/process.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace zerotax::record {
namespace {

constinit KeptFile kept("/proc/thread-self/pagemap");

Pagemap::Method method() { return static_cast<Pagemap::Method>(process->pagemap_method); }

struct Sum {
  AddressRange range;
  std::uint64_t bytes;
};

/// Calls visit(part) for the part of `range` on each page of `pages`.
template <typename Visit>
void for_each_page(AddressRange range, AddressRange pages, Visit visit) {
  for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
    const AddressRange part = range.intersect({page, page + page_bytes()});
    if (part.bytes() > 0) visit(part);
  }
}

/// Calls look(pagemap) with the kept descriptor. The first attempt does not check that the descriptor is still the
/// recorder's, because no other file answers the request. Returns false if there is no answer. If pages can no longer
/// be examined, a gap is recorded.
template <typename Look>
bool ask_pagemap(Look look) {
  for (const bool sure : {method() == Pagemap::Method::kRead, true}) {
    const int fd = sure ? kept.check() : kept.get();
    if (fd < 0) break;
    Pagemap pagemap{UniqueFd(fd), method()};
    errno = 0;
    const bool answered = look(pagemap);
    if (pagemap.release() == fd && answered) return true;
    // With a checked descriptor, these results mean that the addresses are outside the range that programs can use.
    if (sure && (errno == 0 || errno == EFAULT || errno == EINVAL)) return false;
  }
  note_gap(kNoPagemap);
  return false;
}

template <typename Look>
bool with_pagemap(Look look) {
  bool answered = false;
  if (method() != Pagemap::Method::kNone) on_own_stack([&] { answered = ask_pagemap(look); });
  return answered;
}

bool is_zero(AddressRange part) { return all_zero(reinterpret_cast<const void*>(part.begin), part.bytes()); }

/// Whether whole pages can be read without a signal, because the program's handler of the signal might not return.
bool are_readable(AddressRange pages) {
  if (::madvise(reinterpret_cast<void*>(pages.begin), pages.bytes(), MADV_POPULATE_READ) == 0) return true;
  // The kernel is older than 5.14, or the pages are protected.
  char byte = 0;
  for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
    if (!read_own(page, &byte, 1)) return false;
  }
  return true;
}

}  // namespace

bool redundant_bytes(const void* target, std::size_t bytes, std::uint64_t& redundant) {
  Sum dirty{range_of(target, bytes), 0};
  const auto add_dirty = [](void* context, AddressRange pages) {
    auto& sum = *static_cast<Sum*>(context);
    if (!are_readable(pages)) {
      sum.bytes += sum.range.intersect(pages).bytes();
      return;
    }
    for_each_page(sum.range, pages, [&](AddressRange part) { sum.bytes += is_zero(part) ? 0 : part.bytes(); });
  };
  const auto look = [&](const Pagemap& pagemap) {
    dirty.bytes = 0;
    return pagemap.for_each_populated(dirty.range.pages(), add_dirty, &dirty);
  };
  if (!with_pagemap(look)) return false;
  redundant = bytes - dirty.bytes;
  return true;
}

bool populated_bytes(const void* block, std::size_t bytes, std::uint64_t& populated) {
  Sum sum{range_of(block, bytes), 0};
  const auto add = [](void* context, AddressRange pages) {
    auto& found = *static_cast<Sum*>(context);
    found.bytes += found.range.intersect(pages).bytes();
  };
  const auto look = [&](const Pagemap& pagemap) {
    sum.bytes = 0;
    return pagemap.for_each_populated(sum.range.pages(), add, &sum);
  };
  if (!with_pagemap(look)) return false;
  populated = sum.bytes;
  return true;
}

bool for_each_populated(AddressRange pages, Pagemap::Visit visit, void* context) {
  return with_pagemap([&](const Pagemap& pagemap) { return pagemap.for_each_populated(pages, visit, context); });
}

Pagemap::Anonymous anonymous_in(AddressRange range) {
  std::optional<Pagemap::Anonymous> found;
  with_pagemap([&](const Pagemap& pagemap) {
    found = pagemap.anonymous(range.pages());
    return found.has_value();
  });
  return found.value_or(Pagemap::Anonymous{});
}

std::uint64_t zero_page_bytes() {
  // The highest address on x86-64 and arm64. The kernel skips unmapped addresses without cost.
  constexpr std::uintptr_t kMostAddress = (std::uintptr_t{1} << 47) - kMostPageBytes;
  return method() == Pagemap::Method::kScan ? anonymous_in({0, kMostAddress}).zero : 0;
}

void open_pages() {
  kept.drop();
  if (method() != Pagemap::Method::kNone) kept.get();
}

std::uint64_t redundant_bytes_by_contents(const void* target, std::size_t bytes) {
  const AddressRange range = range_of(target, bytes);
  std::uint64_t redundant = 0;
  for_each_page(range, range.pages(), [&](AddressRange part) { redundant += is_zero(part) ? part.bytes() : 0; });
  return redundant;
}

}  // namespace zerotax::record
