#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "record/calls/address_map.h"

namespace zerotax::replay {

/// The blocks of a process, between two events.
struct Blocks {
  record::AddressMap slots;              ///< by 1 + the number of the block
  std::vector<std::uint64_t> sizes;      ///< by slot
  std::vector<std::uint64_t> populated;  ///< by slot: bytes
  std::vector<std::uint32_t> returns;    ///< by slot: times that pages of the block were returned
  std::vector<std::uint32_t> turns;      ///< operations on each slot so far
  std::vector<std::uint32_t> unused;
  std::set<std::uint64_t> mapped;  ///< numbers of those that the program mapped for itself
  std::uint64_t count = 0;
  std::uint64_t live_bytes = 0;

  std::uint32_t take_slot() {
    if (unused.empty()) {
      unused.push_back(static_cast<std::uint32_t>(populated.size()));
      sizes.push_back(0);
      populated.push_back(0);
      returns.push_back(0);
      turns.push_back(0);
    }
    const std::uint32_t slot = unused.back();
    unused.pop_back();
    return slot;
  }
};

}  // namespace zerotax::replay
