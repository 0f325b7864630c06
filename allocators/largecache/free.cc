// What becomes of freed blocks: cached, unmapped, put off in a signal handler, evicted, given back by the clock.
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

// Wraps after 49 days; ages are differences.
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
    // Where all of it would not fit, its populated pages may. Beside others that is asked long before, as what is
    // cached until then counts in full; a block by itself need not pay for a system call, nor one that, as far as its
    // history shows, nobody touches.
    counts = policy().sorts_by_contents && settings_.entries > 0 &&
             (block.use == Use::kZeroed || block.asked < block.size) &&
             held_bytes_ + block.size > memory_limit_locked() / (held_bytes_ > 0 && !seems_untouched(block) ? 2 : 1);
    // A block that is large only because of its alignment is not kept (xzone_segment.c:2963).
    if (!policy().should_cache(settings_, block.size) || block.size <= settings_.threshold ||
        (block.size > memory_limit_locked() && !counts)) {
      counts = false;
      ++statistics_.unmapped;
      give_up_locked(block, evicted);
    } else {
      if (block.madvised) block.madvised = false;  // seldom: block.h says why not always
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

// By a signal handler, amid our own work: the block is left as it is until that is done.
bool LargeHeap::put_off_free(void* pointer) {
  if (in_use_.peek(address_of(pointer)).size == 0) return false;
  const int saved_errno = errno;
  // Not in the block itself, which the program may have protected. Without memory the block is lost.
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

// The block is in neither the table nor the ring while it is madvised, so no other thread can be
// given it before the pages have been offered: MADV_FREE after that would throw the new owner's
// bytes away.
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

// The block is no longer in the table or the ring; the caller unmaps it with the others of `evicted`.
void LargeHeap::give_up_locked(const Block& block, Evicted& evicted) {
  histories_.give_back(block.history);
  evicted.add(block);
}

void LargeHeap::evict_aged_locked(std::uint32_t now, bool all, Evicted& evicted) {
  while (ring_.size() > 0 && (all || now - ring_.at(0).freed_at > settings_.decay_ms)) evict_oldest_locked(evicted);
}

// Bytes that the cache may hold: a fixed share of memory, and never more than brings the total to 1.25 times the most
// that the program ever held.
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
  // May allocate, hence no lock. If it cannot be started now, later attempts are unlikely to succeed: decaying_ stays
  // set, and blocks are given back as others are freed.
  start_decay_(*this);
}

}  // namespace zerotax::largecache
