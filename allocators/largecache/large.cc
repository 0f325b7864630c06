#include "largecache/large.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <type_traits>

#include "largecache/message.h"
#include "largecache/pages.h"

namespace zerotax::largecache {
namespace {

using Guard = std::lock_guard<Lock>;

std::uintptr_t Address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

void* Pointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

void* OutOfMemory() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

static_assert(std::is_trivially_destructible_v<LargeHeap>, "free is called after destructors");

bool LargeHeap::IsLargeUnlessUnread(std::size_t size) {
  if (threshold_.load(std::memory_order_acquire) != 0) return true;  // IsLarge has compared
  const Guard guard(lock_);
  if (threshold_.load(std::memory_order_relaxed) == 0 && source_(policy_)) {
    threshold_.store(policy_.threshold, std::memory_order_release);
  }
  return policy_.is_large(size);
}

void* LargeHeap::Allocate(std::size_t size, std::size_t alignment, Contents contents) {
  const std::optional<std::size_t> rounded = RoundUpToPages(size);
  if (!rounded) return OutOfMemory();
  bool must_zero = false;
  if (const std::uintptr_t cached = TakeCached(*rounded, alignment, contents, must_zero)) {
    // MADV_FREE_REUSE would come here if the block had been madvised: on Linux nothing is to be
    // undone, a write to a page takes it back (madvise(2), MADV_FREE).
    //
    // The requested pages, not the cached size, and whether they are zero already or not: policy.h says why. Built
    // with -fno-builtin-memset, so that it stays a call that a meter can see.
    if (must_zero) memset(Pointer(cached), 0, *rounded);
    return Pointer(cached);
  }
  // Fresh pages are zero: never a memset here.
  const std::uintptr_t fresh = MapPages(*rounded, alignment);
  if (fresh == 0) return OutOfMemory();
  if (!Register(fresh, *rounded)) {
    UnmapPages(fresh, *rounded);
    return OutOfMemory();
  }
  return Pointer(fresh);
}

std::uintptr_t LargeHeap::TakeCached(std::size_t size, std::size_t alignment, Contents contents, bool& must_zero) {
  const Guard guard(lock_);
  if (!policy_.should_cache(size)) return 0;
  const std::optional<std::size_t> best = ring_.BestFit(size, alignment);
  if (!best || !Policy::accept(ring_.at(*best).size, size)) return 0;
  if (!in_use_.Reserve()) return 0;
  const CachedBlock block = ring_.Remove(*best);
  // Never split: the block keeps its full size, so a later free caches all of it again.
  in_use_.Insert(block.address, block.size);
  statistics_.cached_bytes -= block.size;
  if (!block.madvised) statistics_.reserve_bytes -= block.size;
  ++statistics_.hits;
  must_zero = contents == Contents::kZero && Policy::zero_on_hit(block.madvised);
  if (must_zero) statistics_.zeroed_bytes += size;
  return block.address;
}

bool LargeHeap::Register(std::uintptr_t address, std::size_t size) {
  const Guard guard(lock_);
  if (!in_use_.Reserve()) return false;
  in_use_.Insert(address, size);
  ++statistics_.misses;
  return true;
}

std::size_t LargeHeap::UsableSize(const void* pointer) {
  if (pointer == nullptr || !IsPageAligned(pointer)) return 0;
  const Guard guard(lock_);
  const std::size_t size = in_use_.Find(Address(pointer));
  if (size == 0) StopIfCached(Address(pointer), "realloc or malloc_usable_size");
  return size;
}

bool LargeHeap::Free(void* pointer) {
  if (pointer == nullptr || !IsPageAligned(pointer)) return false;
  const int saved_errno = errno;
  CachedBlock block{Address(pointer), 0, false};
  CachedBlock evicted;
  bool cached = false;
  {
    const Guard guard(lock_);
    block.size = in_use_.Remove(block.address);
    if (block.size == 0) {
      StopIfCached(block.address, "double free");
      return false;
    }
    cached = policy_.should_cache(block.size);
    block.madvised = cached && policy_.should_madvise(statistics_.reserve_bytes, block.size);
    if (cached && !block.madvised) evicted = PushLocked(block);
    if (!cached) ++statistics_.unmapped;
  }
  if (!cached) {
    UnmapPages(block.address, block.size);
  } else if (block.madvised) {
    Recache(block);
  } else if (evicted.size != 0) {
    UnmapPages(evicted.address, evicted.size);
  }
  errno = saved_errno;
  return true;
}

// The block is in neither the table nor the ring while it is madvised, so no other thread can be
// given it before the pages have been offered: MADV_FREE after that would throw the new owner's
// bytes away.
void LargeHeap::Recache(const CachedBlock& block) {
  const bool offered = OfferPages(block.address, block.size);
  CachedBlock victim = block;
  {
    const Guard guard(lock_);
    if (offered) {
      ++statistics_.madvised;
      victim = PushLocked(block);
    } else {
      ++statistics_.unmapped;
    }
  }
  if (victim.size != 0) UnmapPages(victim.address, victim.size);
}

// Returns the block that had to go; its size is 0 when none had to.
CachedBlock LargeHeap::PushLocked(const CachedBlock& block) {
  const CachedBlock evicted = ring_.Push(block, policy_.entries).value_or(CachedBlock{});
  statistics_.cached_bytes += block.size;
  if (!block.madvised) statistics_.reserve_bytes += block.size;
  if (evicted.size != 0) {
    ++statistics_.evictions;
    statistics_.cached_bytes -= evicted.size;
    if (!evicted.madvised) statistics_.reserve_bytes -= evicted.size;
  }
  return evicted;
}

bool LargeHeap::ResizeInPlace(void* pointer, std::size_t old_size, std::size_t size) {
  if (!IsLarge(size)) return size > old_size / 2;
  const std::optional<std::size_t> rounded = RoundUpToPages(size);
  if (!rounded) return false;
  const std::uintptr_t address = Address(pointer);
  // At every moment the table names no page that is not ours, lest a child forked now should free a
  // stranger's: a longer block is mapped first and recorded afterwards, a shorter one recorded
  // first.
  if (*rounded > old_size) {
    if (!MapPagesAt(address + old_size, *rounded - old_size)) return false;
    Record(address, *rounded);
  } else if (*rounded <= old_size / 2) {
    Record(address, *rounded);
    // A refusal (pages.h) leaves the block as long as it was.
    if (!UnmapPages(address + *rounded, old_size - *rounded)) Record(address, old_size);
  }
  return true;
}

void LargeHeap::Record(std::uintptr_t address, std::size_t size) {
  const Guard guard(lock_);
  in_use_.Resize(address, size);
}

void LargeHeap::StopIfCached(std::uintptr_t address, const char* call) const {
  if (!ring_.Contains(address)) return;
  Message message;
  message.Text(call).Text(": block ").Pointer(Pointer(address));
  message.Text(" has been freed before and is in the cache; find the first free of it").Send();
  std::abort();
}

void LargeHeap::Statistics(struct largecache_statistics& out) {
  const Guard guard(lock_);
  out = statistics_;
  out.entries = ring_.size();
}

}  // namespace zerotax::largecache
