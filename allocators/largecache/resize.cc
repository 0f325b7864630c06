// realloc of a large block in place. The policy decides which blocks stay, which are cut off, and where the rest goes.
#include <mutex>
#include <optional>

#include "largecache/large.h"
#include "largecache/pages.h"

namespace zerotax::largecache {
namespace {

using Guard = std::lock_guard<Lock>;

}  // namespace

bool LargeHeap::ResizeInPlace(void* pointer, std::size_t old_size, std::size_t size) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  // A block may be as short as a small one, if its alignment made it large.
  if (!IsLarge(size) || !IsLarge(old_size)) {
    const bool stays = size <= old_size && policy().stays(settings_, old_size, size);
    if (stays) Ask(address, size);
    return stays;
  }
  const std::optional<std::size_t> rounded = RoundUp(size);
  if (!rounded) return false;
  const std::size_t asked = Asked(pointer);
  if (*rounded > old_size) {
    if (policy().foresees_growth && IsWorthCopying(asked, *rounded)) return false;
    const bool longer =
        policy().foresees_growth ? Grow(address, old_size, *rounded) : Lengthen(address, old_size, *rounded);
    if (!longer) return false;
  } else if (*rounded < old_size && size < asked && policy().trims(old_size, *rounded)) {
    // What is longer than it has ever asked for was mapped, or chosen, for its growth.
    Shorten(address, old_size, *rounded);
  }
  Ask(address, size);
  return true;
}

// Is there a populated block in the cache whose pages save more faults than it takes to copy what there is? A fault
// takes as long as copying some four pages: 0.5 us and 0.12 us on the machines of docs/largecache.md.
bool LargeHeap::IsWorthCopying(std::size_t asked, std::size_t size) {
  constexpr std::size_t kCopiesPerFault = 4;
  const Guard guard(lock_);
  const std::optional<Choice> choice = ChooseLocked(size, 1, Contents::kAny, true);
  if (!choice || choice->counts) return false;
  const std::size_t populated = ring_.at(choice->position).size;
  return populated > asked && (populated - asked) * kCopiesPerFault > asked;
}

// What is mapped for a block that grows to `size` bytes.
std::size_t LargeHeap::WithRoom(std::size_t size) const {
  constexpr std::size_t kMostRoom = std::size_t{64} << 20;
  const std::size_t room = size / 2 < kMostRoom ? size / 2 : kMostRoom;
  std::size_t all = 0;
  return __builtin_add_overflow(size, room, &all) ? size : RoundUp(all).value_or(size);
}

// Moves the pages of a block that neither table nor ring names to a mapping of at least `size` bytes, with room if it
// is `growing`. False if the kernel refuses; the block is as it was then.
bool LargeHeap::MoveLonger(Block& block, std::size_t size, bool growing) const {
  for (const std::size_t longer : {growing ? WithRoom(size) : size, size}) {
    const std::uintptr_t moved = MovePages(block.address, block.size, longer, AlignmentOf(longer, 1));
    if (moved != 0) {
      block.address = moved;
      block.size = longer;
      if (block.history != nullptr) *block.history = {};
      return true;
    }
    if (longer == size) break;  // there was no room to do without
  }
  return false;
}

// The table names neither address while the pages move, so a child that is forked then can free neither: it has a
// useless mapping at worst.
void* LargeHeap::MoveGrown(void* pointer, std::size_t old_size, std::size_t size) {
  const std::optional<std::size_t> rounded = RoundUp(size);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (!policy().foresees_growth || !rounded || *rounded <= old_size || !IsLarge(old_size)) return nullptr;
  if (IsWorthCopying(Asked(pointer), *rounded)) return nullptr;
  // Two mappings, as the program's advice about huge pages makes of one, do not move as one.
  if (!AgreesWithWitness(address, old_size)) return nullptr;
  Block block;
  {
    const Guard guard(lock_);
    block = in_use_.Remove(address);
    statistics_.in_use_bytes -= InUse(block);
  }
  const bool moved = MoveLonger(block, *rounded, true);
  if (moved) block.asked = size;
  {
    const Guard guard(lock_);
    // Another block may have taken its place in the table meanwhile. There is room without it, too: a table is never
    // more than a quarter full.
    static_cast<void>(in_use_.Reserve());
    CountInUseLocked(block, block.asked);
  }
  return moved ? AsPointer(block.address) : nullptr;
}

// At every moment the table names only pages of ours, so that a child forked now cannot free somebody else's: a longer
// block is mapped first and recorded afterwards, a shorter one is recorded first. The witness moves with the block's
// end: pages of the witness become pages of a longer block, and pages of a shorter block become its witness.
bool LargeHeap::Lengthen(std::uintptr_t address, std::size_t old_size, std::size_t size) {
  if (!MapPagesAt(address + Mapped(old_size), size - old_size)) return false;
  Record(address, size);
  return true;
}

// By making the mapping itself longer: one beside it would not become part of one that was moved, for the kernel keeps
// in mind where its pages were first.
bool LargeHeap::Grow(std::uintptr_t address, std::size_t old_size, std::size_t size) {
  for (const std::size_t longer : {WithRoom(size), size}) {
    if (!LengthenMapping(address, Mapped(old_size), Mapped(longer))) continue;
    Record(address, longer);
    return true;
  }
  return false;
}

void LargeHeap::Shorten(std::uintptr_t address, std::size_t old_size, std::size_t size) {
  const std::uintptr_t from = address + Mapped(size);
  const std::uintptr_t end = address + Mapped(old_size);
  std::uintptr_t tail = end;
  {
    const Guard guard(lock_);
    RecordLocked(address, size);
    if (policy().keeps_tails) tail = TailLocked(from, end);
  }
  // If the kernel refuses (pages.h), the block stays as long as it was. The pages that become the witness are mapped
  // anew: otherwise, whatever the program did to all of the block would have been done to them, too.
  if ((policy().has_witness && !MapPagesOver(address + size, WitnessSize())) ||
      (tail > from && !UnmapPages(from, tail - from))) {
    Record(address, old_size);
  } else if (tail < end) {
    CacheTail(tail, end - tail);
  }
}

// Where the part of [from, end) begins that goes to the cache; `end` if none does.
std::uintptr_t LargeHeap::TailLocked(std::uintptr_t from, std::uintptr_t end) const {
  const std::uintptr_t mask = policy().block_alignment - 1;
  const std::uintptr_t tail = (from + mask) & ~mask;
  const bool is_kept = tail < end && end - tail > settings_.threshold && HasRoomLocked(end - tail);
  return is_kept ? tail : end;
}

// Without eviction: a tail displaces no other block.
bool LargeHeap::HasRoomLocked(std::size_t size) const {
  return ring_.size() < settings_.entries && statistics_.cached_bytes + size <= MemoryLimitLocked();
}

// The tail belongs to nobody until it is in the ring: neither table nor ring names it while what lies before it is
// unmapped, so the worst for a child forked then is a useless mapping. The last entry may have been taken since.
void LargeHeap::CacheTail(std::uintptr_t address, std::size_t size) {
  Block tail;
  tail.address = address;
  tail.size = size;
  tail.asked = size;
  Evicted evicted;
  bool start_decay = false;
  {
    const Guard guard(lock_);
    if (HasRoomLocked(size)) {
      ++statistics_.tails;
      PushLocked(tail, evicted);
      start_decay = WantsDecayLocked();
    } else {
      evicted.Add(tail);
    }
  }
  Unmap(evicted);
  if (start_decay) StartDecay();
}

void LargeHeap::Record(std::uintptr_t address, std::size_t size) {
  const Guard guard(lock_);
  RecordLocked(address, size);
}

void LargeHeap::RecordLocked(std::uintptr_t address, std::size_t size) {
  const std::size_t asked = in_use_.At(address).asked;
  ResizeLocked(address, size, asked < size ? asked : size);
}

}  // namespace zerotax::largecache
