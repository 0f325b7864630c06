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
  // A block may be as short as a small one, if its alignment made it large.
  if (!IsLarge(size) || !IsLarge(old_size)) return size <= old_size && policy().stays(settings_, old_size, size);
  const std::optional<std::size_t> rounded = RoundUp(size);
  if (!rounded) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (*rounded > old_size) return Lengthen(address, old_size, *rounded);
  if (*rounded < old_size && policy().trims(old_size, *rounded)) Shorten(address, old_size, *rounded);
  return true;
}

// At every moment the table names only pages of ours, so that a child forked now cannot free somebody else's: a longer
// block is mapped first and recorded afterwards, a shorter one is recorded first. The witness moves with the block's
// end: pages of the witness become pages of a longer block, and pages of a shorter block become its witness.
bool LargeHeap::Lengthen(std::uintptr_t address, std::size_t old_size, std::size_t size) {
  if (!MapPagesAt(address + Mapped(old_size), size - old_size)) return false;
  Record(address, size);
  return true;
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
  Block tail{address, size, false, 0, nullptr};
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
  statistics_.in_use_bytes += size - in_use_.Find(address);
  if (statistics_.in_use_bytes > statistics_.peak_in_use_bytes) {
    statistics_.peak_in_use_bytes = statistics_.in_use_bytes;
  }
  in_use_.Resize(address, size);
}

}  // namespace zerotax::largecache
