// realloc of a large block, in place or by moving pages. The policy decides which blocks stay, which blocks are cut
// off, and what happens to the end that is cut off.
#include <mutex>
#include <optional>

#include "largecache/large.h"
#include "largecache/pages.h"

namespace zerotax::largecache {
namespace {

using Guard = std::lock_guard<Lock>;

}  // namespace

bool LargeHeap::resize_in_place(void* pointer, std::size_t old_size, std::size_t size) {
  if (lock_.is_interrupted()) return size <= old_size;
  const FreesPutOff put_off(*this);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  // A block that is large only because of its alignment may be as short as a small one.
  if (!is_large(size) || !is_large(old_size)) {
    const bool stays = size <= old_size && policy().stays(settings_, old_size, size);
    if (stays) ask(address, size);
    return stays;
  }
  const std::optional<std::size_t> rounded = round_up(size);
  if (!rounded) return false;
  const std::size_t asked = asked_size(pointer);
  if (*rounded > old_size) {
    if (policy().foresees_growth && is_worth_copying(asked, *rounded)) return false;
    const bool longer =
        policy().foresees_growth ? grow(address, old_size, *rounded) : lengthen(address, old_size, *rounded);
    if (!longer) return false;
  } else if (*rounded < old_size && size < asked && policy().trims(old_size, *rounded)) {
    // A block longer than its largest request so far has room for growth, so it is not shortened.
    shorten(address, old_size, *rounded);
  }
  ask(address, size);
  return true;
}

// Whether the cache has a populated block whose pages save more time in faults than copying the old content takes. A
// fault takes as long as copying about four pages: 0.5 us and 0.12 us on the machines of docs/largecache.md.
bool LargeHeap::is_worth_copying(std::size_t asked, std::size_t size) {
  constexpr std::size_t kCopiesPerFault = 4;
  const Guard guard(lock_);
  const std::optional<Choice> choice = choose_locked(size, 1, Contents::kAny, true);
  if (!choice || choice->counts) return false;
  const std::size_t populated = ring_.at(choice->position).size;
  return populated > asked && (populated - asked) * kCopiesPerFault > asked;
}

// Returns the bytes to map for a block that grows to `size` bytes.
std::size_t LargeHeap::with_room(std::size_t size) const {
  constexpr std::size_t kMostRoom = std::size_t{64} << 20;
  const std::size_t room = size / 2 < kMostRoom ? size / 2 : kMostRoom;
  std::size_t all = 0;
  return __builtin_add_overflow(size, room, &all) ? size : round_up(all).value_or(size);
}

// Moves the pages of a block to a mapping of at least `size` bytes, with room for growth if `growing`. The block must
// be in neither the table nor the ring. If the kernel refuses, leaves the block unchanged and returns false.
bool LargeHeap::move_longer(Block& block, std::size_t size, bool growing) const {
  for (const std::size_t longer : {growing ? with_room(size) : size, size}) {
    const std::uintptr_t moved = move_pages(block.address, block.size, longer, alignment_of(longer, 1));
    if (moved != 0) {
      block.address = moved;
      block.size = longer;
      if (block.history != nullptr) *block.history = {};
      return true;
    }
    if (longer == size) break;  // without room for growth, both sizes are the same
  }
  return false;
}

// The table contains neither address while the pages move. A child that is forked meanwhile can thus free neither, and
// at worst has a useless mapping.
void* LargeHeap::move_grown(void* pointer, std::size_t old_size, std::size_t size) {
  if (lock_.is_interrupted()) return nullptr;
  const FreesPutOff put_off(*this);
  const std::optional<std::size_t> rounded = round_up(size);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (!policy().foresees_growth || !rounded || *rounded <= old_size || !is_large(old_size)) return nullptr;
  if (is_worth_copying(asked_size(pointer), *rounded)) return nullptr;
  // The program's advice about huge pages may have split the mapping, and mremap moves only one mapping at a time.
  if (!agrees_with_witness(address, old_size)) return nullptr;
  Block block;
  {
    const Guard guard(lock_);
    block = in_use_.remove(address);
    statistics_.in_use_bytes -= in_use(block);
  }
  const bool moved = move_longer(block, *rounded, true);
  if (moved) block.asked = size;
  {
    const Guard guard(lock_);
    // Another block may have taken the slot in the table meanwhile. Even if reserve() fails there is a free slot,
    // because a table is at most a quarter full.
    static_cast<void>(in_use_.reserve());
    count_in_use_locked(block, block.asked);
  }
  return moved ? as_pointer(block.address) : nullptr;
}

// Lengthens a block in place. At every moment the table contains only our own pages, so that a child forked meanwhile
// frees no other pages. A longer block is therefore mapped before it is recorded, and a shorter block is recorded
// before it is unmapped. The witness moves with the block's end: its pages become part of a longer block, and pages of
// a shorter block become its witness.
bool LargeHeap::lengthen(std::uintptr_t address, std::size_t old_size, std::size_t size) {
  if (!map_pages_at(address + mapped_size(old_size), size - old_size)) return false;
  record(address, size);
  return true;
}

// Lengthens the mapping itself. If the first mapping was moved, a second mapping after it could not merge with it,
// because the kernel remembers the original position of moved pages.
bool LargeHeap::grow(std::uintptr_t address, std::size_t old_size, std::size_t size) {
  for (const std::size_t longer : {with_room(size), size}) {
    if (!lengthen_mapping(address, mapped_size(old_size), mapped_size(longer))) continue;
    record(address, longer);
    return true;
  }
  return false;
}

void LargeHeap::shorten(std::uintptr_t address, std::size_t old_size, std::size_t size) {
  const std::uintptr_t from = address + mapped_size(size);
  const std::uintptr_t end = address + mapped_size(old_size);
  std::uintptr_t tail = end;
  {
    const Guard guard(lock_);
    record_locked(address, size);
    if (policy().keeps_tails) tail = tail_locked(from, end);
  }
  // If the kernel refuses (pages.h), the block keeps its length. The pages of the new witness are mapped again: they
  // have all properties that the program gave the block, so they would not reveal a change.
  if ((policy().has_witness && !map_pages_over(address + size, witness_size())) ||
      (tail > from && !unmap_pages(from, tail - from))) {
    record(address, old_size);
  } else if (tail < end) {
    cache_tail(tail, end - tail);
  }
}

// Returns the start of the part of [from, end) that goes to the cache, or `end` if no part does.
std::uintptr_t LargeHeap::tail_locked(std::uintptr_t from, std::uintptr_t end) const {
  const std::uintptr_t mask = policy().block_alignment - 1;
  const std::uintptr_t tail = (from + mask) & ~mask;
  const bool is_kept = tail < end && end - tail > settings_.threshold && has_room_locked(end - tail);
  return is_kept ? tail : end;
}

// Whether a tail of `size` bytes fits into the cache without eviction. A tail must not displace another block.
bool LargeHeap::has_room_locked(std::size_t size) const {
  return ring_.size() < settings_.entries && statistics_.cached_bytes + size <= memory_limit_locked();
}

// Caches a tail. Before, the tail is in neither table nor ring, so a child that is forked meanwhile at worst has a
// useless mapping. Meanwhile another block may have taken the ring's last free entry.
void LargeHeap::cache_tail(std::uintptr_t address, std::size_t size) {
  Block tail;
  tail.address = address;
  tail.size = size;
  tail.asked = size;
  Evicted evicted;
  bool start_decay = false;
  {
    const Guard guard(lock_);
    if (has_room_locked(size)) {
      ++statistics_.tails;
      push_locked(tail, evicted);
      start_decay = wants_decay_locked();
    } else {
      evicted.add(tail);
    }
  }
  unmap(evicted);
  if (start_decay) start_decaying();
}

void LargeHeap::record(std::uintptr_t address, std::size_t size) {
  const Guard guard(lock_);
  record_locked(address, size);
}

void LargeHeap::record_locked(std::uintptr_t address, std::size_t size) {
  const std::size_t asked = in_use_.at(address).asked;
  resize_locked(address, size, asked < size ? asked : size);
}

}  // namespace zerotax::largecache
