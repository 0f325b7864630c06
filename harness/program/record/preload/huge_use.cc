#include "record/preload/huge_use.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>

#include "meter/contents.h"
#include "record/preload/examine.h"
#include "record/preload/file_pages.h"
#include "record/preload/own_memory.h"
#include "record/preload/process.h"

namespace zerotax::record {
namespace {

struct Noted {
  std::atomic<std::uintptr_t> begin;  ///< 0: free
  std::atomic<std::uintptr_t> end;
  std::atomic<HugeKind> kind;
};
constexpr std::size_t kNoted = 256;
Noted noted[kNoted];
std::atomic<std::size_t> noted_used{0};

/// Reading takes about a tenth of the time in which the kernel zeroes as much. After the first returns with huge pages,
/// only a few more are examined.
constexpr std::uint64_t kAllOf = 4;
constexpr std::uint64_t kMostHeld = std::uint64_t{1} << 30;

/// Whether the kernel reports which pages are huge (Linux 6.7 and later).
bool tells_huge() { return process->pagemap_method == static_cast<std::uint32_t>(Pagemap::Method::kScan); }

HugeKind kind_of(std::uintptr_t address) {
  for (std::size_t i = 0; i < std::min(noted_used.load(), kNoted); ++i) {
    if (address >= noted[i].begin && address < noted[i].end) return noted[i].kind;
  }
  return is_in_image(address) ? HugeKind::kProgram : HugeKind::kAllocator;
}

/// Returns the bytes on pages that are all zero in one huge page. A system call reads the page, because another thread
/// may unmap it meanwhile. Returns nothing if the page cannot be read.
std::optional<std::uint64_t> unwritten_in(std::uintptr_t begin) {
  alignas(64) char text[16 << 10];
  std::uint64_t unwritten = 0;
  for (std::uintptr_t at = begin; at < begin + huge_page_bytes(); at += sizeof text) {
    if (!read_own(at, &text[0], sizeof text)) return std::nullopt;
    for (std::size_t page = 0; page < sizeof text; page += kLeastPageBytes) {
      if (all_zero(&text[page], kLeastPageBytes)) unwritten += kLeastPageBytes;
    }
  }
  return unwritten;
}

/// Adds the huge pages in a range to `use`. Without `examine`, their contents are not read.
void add_pages(HugeUse (&use)[kHugeKinds], AddressRange range, std::uint64_t weight, bool examine) {
  const std::uint64_t unit = huge_page_bytes();
  for (std::uintptr_t at = (range.begin + unit - 1) & ~(unit - 1); at + unit <= range.end; at += unit) {
    const auto found = anonymous_in({at, at + unit});
    if (tells_huge() ? found.huge < unit : found.bytes < unit) continue;
    const auto unwritten = examine ? unwritten_in(at) : std::nullopt;
    // Small pages are populated one by one, so that a whole piece with a page of zeros is a huge page.
    if (!tells_huge() && unwritten.value_or(0) == 0) continue;
    HugeUse& of_kind = use[static_cast<std::size_t>(kind_of(at))];
    of_kind.bytes += weight * unit;
    if (!unwritten) continue;
    of_kind.examined_bytes += unit;
    of_kind.unwritten_bytes += *unwritten;
  }
}

}  // namespace

void note_huge_mapping(AddressRange range, HugeKind kind) {
  if (range.bytes() < huge_page_bytes()) return;
  for (std::size_t i = 0; i < kNoted; ++i) {
    std::uintptr_t expected = 0;
    if (!noted[i].begin.compare_exchange_strong(expected, range.begin)) continue;
    noted[i].kind = kind;
    noted[i].end = range.end;
    std::size_t used = noted_used;
    while (used < i + 1 && !noted_used.compare_exchange_weak(used, i + 1)) {
    }
    return;
  }
}

void forget_huge_mappings(AddressRange range) {
  for (std::size_t i = 0; i < std::min(noted_used.load(), kNoted); ++i) {
    if (noted[i].begin == 0 || noted[i].begin < range.begin || noted[i].end > range.end) continue;
    noted[i].end = 0;
    noted[i].begin = 0;
  }
}

void count_returned_huge(AddressRange range, std::uint64_t huge_bytes, std::uint64_t weight) {
  if (huge_bytes == 0) return;
  const std::uint64_t number = ++process->holdings.huge_returns;
  add_pages(process->holdings.huge_returned, range, weight, number <= kAllOf || std::has_single_bit(number));
}

void count_held_huge() {
  HugeUse(&held)[kHugeKinds] = process->holdings.huge_held;
  for (HugeUse& use : held) use.bytes = use.examined_bytes = use.unwritten_bytes = 0;
  std::uint64_t left = kMostHeld;
  const auto add = [&](const Mapping& mapping) {
    if (!mapping.zero_filled() || mapping.range.bytes() < huge_page_bytes()) return;
    if (mapping.stack) note_huge_mapping(mapping.range, HugeKind::kStack);
    const auto found = anonymous_in(mapping.range);
    const std::uint64_t huge = tells_huge() ? found.huge : found.bytes;
    if (huge != 0) add_pages(held, mapping.range, 1, huge <= left);
    left -= std::min(left, huge);
    if (mapping.stack) forget_huge_mappings(mapping.range);
  };
  for_each_own_mapping([](void* context, const Mapping& mapping) { (*static_cast<decltype(&add)>(context))(mapping); },
                       const_cast<void*>(static_cast<const void*>(&add)));
}

}  // namespace zerotax::record
