#pragma once

#include <sys/auxv.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zerotax {

/// Bytes of a page of this machine: 4 KiB on x86-64; 4, 16 or 64 KiB on arm64, as its kernel was built. Huge pages are
/// made of these in every interface used here. The kernel hands the number to each program at its start, so that it is
/// known before any constructor has run; neither a lock nor a guard is taken, so that a signal handler may ask, too.
inline std::size_t page_bytes() {
  static constinit std::atomic<std::size_t> known{0};
  std::size_t bytes = known.load(std::memory_order_relaxed);
  if (bytes == 0) [[unlikely]] {
    bytes = ::getauxval(AT_PAGESZ);
    known.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

/// No machine that this runs on has a smaller page, in bytes.
inline constexpr std::size_t kLeastPageBytes = 4096;
/// No machine that this runs on has a larger page, in bytes: for what must have its size when it is compiled.
inline constexpr std::size_t kMostPageBytes = std::size_t{64} << 10;

/// Bytes of a transparent huge page on a machine with such pages: what a whole table of theirs maps, with 8 bytes an
/// entry. 2 MiB with pages of 4 KiB, 32 MiB with 16 KiB. Source: Documentation/arch/arm64/memory.rst.
constexpr std::size_t huge_page_of(std::size_t page) { return page * (page / 8); }
inline std::size_t huge_page_bytes() { return huge_page_of(page_bytes()); }

inline std::uintptr_t page_floor(std::uintptr_t address) { return address & ~(page_bytes() - 1); }
inline std::uintptr_t page_ceiling(std::uintptr_t address) { return page_floor(address + page_bytes() - 1); }

/// Addresses [begin, end).
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] std::size_t bytes() const { return end > begin ? end - begin : 0; }
  /// The pages that it lies on.
  [[nodiscard]] AddressRange pages() const { return {page_floor(begin), page_ceiling(end)}; }
  [[nodiscard]] AddressRange intersect(AddressRange other) const {
    return {begin > other.begin ? begin : other.begin, end < other.end ? end : other.end};
  }
};

/// Where a block lies.
inline AddressRange range_of(const void* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  return {address, address + bytes};
}

}  // namespace zerotax
