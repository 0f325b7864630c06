// Treatment of freed blocks: cached, unmapped, deferred in a signal handler, evicted, or returned after a time.
#include <cerrno>
#include <ctime>
#include <mutex>
#include <new>

#include "largecache/clear.h"
#include "largecache/large.h"
#include "largecache/pages.h"

namespace zerotax::largecache {
namespace {

using Guard = std::lock_guard<Lock>;

// Milliseconds, which wrap after 49 days. Ages are differences, so wrapping does no harm.
std::uint32_t milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint32_t>(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}

bool seems_untouched(const Block& block) {
  return block.history != nullptr && block.history->pages != 0 && block.history->touched == 0 && block.history->settled;
}

}  // namespace

bool LargeHeap::deallocate(void* pointer) {
  if (pointer == nullptr || !is_page_aligned(pointer)) return false;
  if (lock_.is_interrupted()) return put_off_free(pointer);
  const FreesPutOff put_off(*this);
  const int saved_errno = errno;
  if (reads_.watched() == address_of(pointer)) learn_of_reads();
  Block block;
  Evicted evicted;
  AtFree how = AtFree::kKeep;
  bool start_decay = false;
  bool counts = false;
  {
    const Guard guard(lock_);
    block = in_use_.remove(address_of(pointer));
    if (block.size == 0) {
      stop_if_cached(address_of(pointer), "double free");
      return false;
    }
    statistics_.in_use_bytes -= in_use(block);
    // If a whole block exceeds the limit, its populated pages alone may still be within the limit. If other blocks are
    // cached, pages are counted long before the limit, because an uncounted block counts in full. If no other block is
    // cached, or the block seems untouched, pages are counted only above the limit, which saves a system call.
    counts = policy().sorts_by_contents && settings_.entries > 0 &&
             (block.use == Use::kZeroed || block.asked < block.size) &&
             held_bytes_ + block.size > memory_limit_locked() / (held_bytes_ > 0 && !seems_untouched(block) ? 2 : 1);
    // A block that is large only because of its alignment is not cached (xzone_segment.c:2963).
    if (!policy().should_cache(settings_, block.size) || block.size <= settings_.threshold ||
        (block.size > memory_limit_locked() && !counts)) {
      counts = false;
      ++statistics_.unmapped;
      give_up_locked(block, evicted);
    } else {
      if (block.madvised) block.madvised = false;  // rarely true; block.h says why fields are changed in place
      how = policy().at_free(settings_, statistics_.reserve_bytes, block.size);
      if (how == AtFree::kKeep && !counts) push_locked(block, evicted);
      start_decay = wants_decay_locked();
    }
  }
  if (how != AtFree::kKeep) {
    recache(block, how);
  } else if (counts) {
    cache_counted(block);
  }
  unmap(evicted);
  if (start_decay) start_decaying();
  errno = saved_errno;
  return true;
}

// Defers a free that a signal handler requests while our own code is interrupted. The block stays unchanged until that
// code has finished.
bool LargeHeap::put_off_free(void* pointer) {
  if (in_use_.peek(address_of(pointer)).size == 0) return false;
  const int saved_errno = errno;
  // The entry gets its own page, because the program may have protected the block. If no page can be mapped, the block
  // is lost.
  if (const std::uintptr_t page = map_pages(page_size(), page_size()); page != 0) {
    auto* const entry = new (as_pointer(page)) PutOff{pointer, put_off_.load(std::memory_order_relaxed)};
    while (!put_off_.compare_exchange_weak(entry->next, entry, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  errno = saved_errno;
  return true;
}

void LargeHeap::free_put_off() {
  if (lock_.is_interrupted()) return;
  for (PutOff* entry = put_off_.exchange(nullptr, std::memory_order_acquire); entry != nullptr;) {
    void* const pointer = entry->pointer;
    PutOff* const next = entry->next;
    unmap_pages(address_of(entry), page_size());
    deallocate(pointer);
    entry = next;
  }
}

// Advises the kernel about a block, then caches it. In between, the block is in neither the table nor the ring. If
// another thread could get the block, MADV_FREE would discard the new owner's data.
void LargeHeap::recache(Block& block, AtFree how) {
  const bool offer = how == AtFree::kOffer;
  block.madvised = offer ? offer_pages(block.address, block.size) : purge_pages(block.address, block.size);
  Evicted evicted;
  {
    const Guard guard(lock_);
    if (block.madvised) ++statistics_.madvised;
    if (block.madvised && !offer) purged_bytes_.fetch_add(block.size, std::memory_order_relaxed);
    if (block.madvised || !offer) {
      push_locked(block, evicted);
    } else {
      ++statistics_.unmapped;
      give_up_locked(block, evicted);
    }
  }
  unmap(evicted);
}

void LargeHeap::cache_counted(Block& block) {
  block.resident = count_populated(block.address, block.size);
  Evicted evicted;
  {
    const Guard guard(lock_);
    if (held(block) > memory_limit_locked()) {
      ++statistics_.unmapped;
      give_up_locked(block, evicted);
    } else {
      push_locked(block, evicted);
    }
  }
  unmap(evicted);
}

void LargeHeap::push_locked(const Block& block, Evicted& evicted) {
  const std::uint32_t now = settings_.decay_ms > 0 ? milliseconds() : 0;
  if (settings_.decay_ms > 0) evict_aged_locked(now, false, evicted);
  const std::size_t limit = memory_limit_locked();
  while (ring_.size() >= settings_.entries || (ring_.size() > 0 && held_bytes_ + held(block) > limit)) {
    evict_oldest_locked(evicted);
  }
  ring_.push(block, settings_.entries);
  ring_.newest().freed_at = now;
  statistics_.cached_bytes += block.size;
  held_bytes_ += held(block);
  if (!block.madvised) statistics_.reserve_bytes += block.size;
}

void LargeHeap::evict_oldest_locked(Evicted& evicted) {
  const Block oldest = ring_.pop_oldest();
  ++statistics_.evictions;
  statistics_.cached_bytes -= oldest.size;
  held_bytes_ -= held(oldest);
  if (!oldest.madvised) statistics_.reserve_bytes -= oldest.size;
  give_up_locked(oldest, evicted);
}

// Releases a block that is no longer in the table or the ring. The caller unmaps it with the other blocks of `evicted`.
void LargeHeap::give_up_locked(const Block& block, Evicted& evicted) {
  histories_.give_back(block.history);
  evicted.add(block);
}

void LargeHeap::evict_aged_locked(std::uint32_t now, bool all, Evicted& evicted) {
  while (ring_.size() > 0 && (all || now - ring_.at(0).freed_at > settings_.decay_ms)) evict_oldest_locked(evicted);
}

// Returns the number of bytes that the cache may hold: a fixed share of memory. In addition, cache and blocks in use
// together may not exceed 1.25 times the program's peak.
std::size_t LargeHeap::memory_limit_locked() const {
  if (!policy().bounded_by_peak) return settings_.memory_limit;
  const std::size_t peak = statistics_.peak_in_use_bytes;
  const std::size_t by_peak = peak + peak / 4 - statistics_.in_use_bytes;
  return by_peak < settings_.memory_limit ? by_peak : settings_.memory_limit;
}

bool LargeHeap::wants_decay_locked() const { return settings_.decay_ms > 0 && start_decay_ != nullptr && !decaying_; }

bool LargeHeap::decay(bool all, bool stay) {
  const FreesPutOff put_off(*this);
  Evicted evicted;
  bool more = false;
  {
    const Guard guard(lock_);
    evict_aged_locked(milliseconds(), all, evicted);
    if (all) reads_.unlearn();
    more = ring_.size() > 0;
    if (!more && !all && !stay) decaying_ = false;
  }
  unmap(evicted);
  return more || all || stay;
}

void LargeHeap::start_decaying() {
  {
    const Guard guard(lock_);
    if (decaying_) return;
    decaying_ = true;
  }
  // Called without the lock, because this function may allocate. If the caller of decay() cannot start, later attempts
  // are unlikely to succeed, so decaying_ stays set. Old blocks are then returned whenever a block is freed.
  start_decay_(*this);
}

}  // namespace zerotax::largecache
