#pragma once

#include <cstdint>
#include <optional>

#include "record/calls/address_map.h"
#include "record/calls/shared_array.h"

namespace zerotax::replay {

/// A place for a block. The place of an ended block is used again, the last one first.
struct Slot {
  std::uint64_t bytes = 0;      ///< size of the block; of an unused slot: 1 + the slot that became unused before it
  std::uint64_t populated = 0;  ///< bytes with populated pages
  std::uint64_t unknown = 0;    ///< bytes of pages that may be populated, if the process's end was not seen
  std::uint32_t returns = 0;    ///< times that pages of the block were returned
  std::uint32_t turns = 0;      ///< operations on the slot so far
  bool mapped = false;          ///< the program mapped the block for itself
};

/// The blocks of a process, between two events. A copy, such as for a fork, shares everything that neither has changed
/// since.
class Blocks {
 public:
  std::uint64_t count = 0;
  std::uint64_t live_bytes = 0;

  [[nodiscard]] Slot slot(std::uint32_t number) const { return slots_.at(number); }
  Slot& edit(std::uint32_t number) { return slots_.edit(number); }
  [[nodiscard]] std::uint64_t slots() const { return used_; }

  std::uint32_t take_slot() {
    if (unused_ == 0) return used_++;
    const std::uint32_t slot = unused_ - 1;
    unused_ = static_cast<std::uint32_t>(slots_.edit(slot).bytes);
    return slot;
  }
  void give_back(std::uint32_t slot) {
    slots_.edit(slot).bytes = unused_;
    unused_ = slot + 1;
  }

  /// The slot of a block by its number; nothing if the block has ended, or has not begun.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t block) const { return narrow(live_.find(key(block))); }
  std::optional<std::uint32_t> take(std::uint64_t block) { return narrow(live_.take(key(block))); }
  /// Begins the next block in a slot.
  void begin(std::uint32_t slot) { live_.insert(key(count++), slot); }

 private:
  /// The key of a block, shifted because the map ignores the lowest bits of an address.
  static std::uint64_t key(std::uint64_t block) { return (block + 1) << 4; }
  static std::optional<std::uint32_t> narrow(std::optional<std::uint64_t> slot) {
    return slot ? std::optional(static_cast<std::uint32_t>(*slot)) : std::nullopt;
  }

  record::AddressMap live_;
  record::SharedArray<Slot> slots_;
  std::uint32_t used_ = 0;    ///< number of slots that were ever used
  std::uint32_t unused_ = 0;  ///< 1 + the slot that is used next; 0: none
};

}  // namespace zerotax::replay
