#pragma once

#include <sys/auxv.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zerotax {

/// Returns the page size of this machine in bytes: 4 KiB on x86-64; 4, 16 or 64 KiB on arm64, depending on the kernel's
/// build. In every kernel interface that zerotax uses, a huge page counts as many pages of this size. The kernel passes
/// the number to each program at its start, so it is known before any constructor runs. No lock or guard is taken, so
/// that a signal handler may call this function.
inline std::size_t page_bytes() {
  static constinit std::atomic<std::size_t> known{0};
  std::size_t bytes = known.load(std::memory_order_relaxed);
  if (bytes == 0) [[unlikely]] {
    bytes = ::getauxval(AT_PAGESZ);
    known.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

/// Smallest page size, in bytes, of any supported machine.
inline constexpr std::size_t kLeastPageBytes = 4096;
/// Largest page size, in bytes, of any supported machine, for objects whose size is fixed at compile time.
inline constexpr std::size_t kMostPageBytes = std::size_t{64} << 10;

/// Returns the size in bytes of a transparent huge page, given the page size: the memory that a page table of 8-byte
/// entries maps. A huge page has 2 MiB if pages have 4 KiB, and 32 MiB if pages have 16 KiB. Source:
/// Documentation/arch/arm64/memory.rst.
constexpr std::size_t huge_page_of(std::size_t page) { return page * (page / 8); }
inline std::size_t huge_page_bytes() { return huge_page_of(page_bytes()); }

inline std::uintptr_t page_floor(std::uintptr_t address) { return address & ~(page_bytes() - 1); }
inline std::uintptr_t page_ceiling(std::uintptr_t address) { return page_floor(address + page_bytes() - 1); }

/// An address range [begin, end).
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] std::size_t bytes() const { return end > begin ? end - begin : 0; }
  /// Returns the smallest range of whole pages that contains this range.
  [[nodiscard]] AddressRange pages() const { return {page_floor(begin), page_ceiling(end)}; }
  [[nodiscard]] AddressRange intersect(AddressRange other) const {
    return {begin > other.begin ? begin : other.begin, end < other.end ? end : other.end};
  }
};

/// Returns the address range of a block.
inline AddressRange range_of(const void* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  return {address, address + bytes};
}

}  // namespace zerotax
