#pragma once

#include <bitset>
#include <cstdint>
#include <unordered_map>

namespace zerotax {

/// Where the kernel gave a process a page of its own, zeroed or copied: where it zeroes one again, the memory went back
/// in between. A lower bound of what comes back, for memory may return at another address.
class FilledPages {
 public:
  /// Adds the pages from the one of this address on; `bytes`: of whole pages. True if the first of them was
  /// there.
  bool add(std::uint64_t address, std::uint64_t bytes);
  void clear() { regions_.clear(); }

 private:
  static constexpr std::uint64_t kPages = 512;  ///< of a region: those of one page table of x86-64
  std::unordered_map<std::uint64_t, std::bitset<kPages>> regions_;
};

}  // namespace zerotax
