#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax {

/// The base page of x86-64, in bytes. Huge pages are made of these in every interface used here.
inline constexpr std::size_t kPageBytes = 4096;

/// What one entry of the middle level of x86-64's page tables maps.
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

constexpr std::uintptr_t page_floor(std::uintptr_t address) { return address & ~(kPageBytes - 1); }
constexpr std::uintptr_t page_ceiling(std::uintptr_t address) { return page_floor(address + kPageBytes - 1); }

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
