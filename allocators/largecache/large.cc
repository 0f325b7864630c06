#include "largecache/large.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <type_traits>

#include "largecache/adaptive/pagemap.h"
#include "largecache/clear.h"
#include "largecache/message.h"
#include "largecache/pages.h"

namespace zerotax::largecache {
namespace {

using Guard = std::lock_guard<Lock>;

// Memory that one page table maps on most machines; also the size of a huge page.
constexpr std::size_t kTableSpan = std::size_t{2} << 20;

void* out_of_memory() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

static_assert(std::is_trivially_destructible_v<LargeHeap>, "free is called after destructors");

bool LargeHeap::is_large_unless_unread(std::size_t size) {
  if (lock_.is_interrupted()) {
    lent_.store(true, std::memory_order_relaxed);
    return false;
  }
  if (threshold_.load(std::memory_order_acquire) != 0) return true;  // is_large() has already compared the size
  const Guard guard(lock_);
  if (threshold_.load(std::memory_order_relaxed) == 0 && source_(settings_)) {
    threshold_.store(settings_.threshold, std::memory_order_release);
  }
  return size > settings_.threshold;
}

bool LargeHeap::is_large_by_alignment(std::size_t alignment) {
  if (lock_.is_interrupted()) return false;
  static_cast<void>(is_large(1));  // the call makes sure that the policy has been read
  return alignment > policy().most_small_alignment;
}

// Rounds a size up to whole granules; 0 bytes become one granule.
std::optional<std::size_t> LargeHeap::round_up(std::size_t size) const {
  const std::optional<std::size_t> pages = round_up_to_pages(size == 0 ? 1 : size);
  const std::size_t mask = policy().granule - 1;
  if (!pages || *pages > static_cast<std::size_t>(PTRDIFF_MAX) - mask) return std::nullopt;
  return (*pages + mask) & ~mask;
}

// Returns the bytes to map for a block of `size` bytes.
std::size_t LargeHeap::mapped_size(std::size_t size) const {
  return policy().has_witness ? size + witness_size() : size;
}

void LargeHeap::unmap(const Evicted& evicted) const {
  for (std::size_t i = 0; i < evicted.count; ++i)
    unmap_pages(evicted.blocks[i].address, mapped_size(evicted.blocks[i].size));
}

void* LargeHeap::allocate(std::size_t size, std::size_t alignment, Contents contents, bool growing) {
  const FreesPutOff put_off(*this);
  const std::optional<std::size_t> rounded = round_up(size);
  if (!rounded) return out_of_memory();
  const Request request{size, contents, growing && policy().foresees_growth};
  for (Block block; take_cached(*rounded, alignment, request, block);) {
    if (!agrees_with_witness(block.address, block.size)) {
      discard(block);
      continue;
    }
    // For an madvised block, macOS would need MADV_FREE_REUSE here. On Linux, a write takes the page back by itself
    // (madvise(2), MADV_FREE).
    if (contents == Contents::kZero) {
      const Cleared cleared = policy().clear(block, *rounded, fork_generation());
      if (cleared.zeroed_bytes != 0) zeroed_bytes_.fetch_add(cleared.zeroed_bytes, std::memory_order_relaxed);
      if (cleared.purged_bytes != 0) purged_bytes_.fetch_add(cleared.purged_bytes, std::memory_order_relaxed);
      // A block without populated pages is purged in each call, because the program does not touch it.
      const bool partly = cleared.zeroed_bytes > 0 && cleared.zeroed_bytes < *rounded;
      if (partly && policy().foresees_reads) foresee_reads(block.address, *rounded, cleared.zeroed_bytes / page_size());
    } else if (block.history != nullptr) {
      *block.history = {};  // from now on, nothing is known about the pages of the block
    }
    return as_pointer(block.address);
  }
  if (policy().foresees_growth && contents == Contents::kAny && alignment <= page_size()) {
    if (void* const part = growing ? nullptr : cut(*rounded, request)) return part;
    if (void* const extended = extend(*rounded, request)) return extended;
  }
  return allocate_fresh(*rounded, alignment, request);
}

bool LargeHeap::agrees_with_witness(std::uintptr_t address, std::size_t size) const {
  return !policy().has_witness || witness_agrees(address, size) || witness_agrees_without_advice(address, size);
}

// Aligns blocks so that a purge walks only page tables of one block, and a move moves whole page tables. The
// kernel itself aligns a mapping only if its length is a multiple of a huge page, which a block with its witness
// never is.
std::size_t LargeHeap::alignment_of(std::size_t size, std::size_t alignment) const {
  if (policy().has_witness && size >= kTableSpan / 2 && alignment < kTableSpan) alignment = kTableSpan;
  return alignment < policy().block_alignment ? policy().block_alignment : alignment;
}

// Maps a new block. Fresh pages are zero, so they never need a memset.
std::uintptr_t LargeHeap::map_fresh(std::size_t size, std::size_t alignment) {
  const std::uintptr_t fresh = map_pages(mapped_size(size), alignment);
  if (fresh != 0) return fresh;
  // Returns the cache to the kernel and tries again, which may help under a limit on the address space. Apple's
  // allocators do not do this: they report that there is no memory, and keep their cache (libmalloc-116,
  // magazine_large.c:463-465). README.md explains the difference.
  decay(true);
  return map_pages(mapped_size(size), alignment);
}

void* LargeHeap::allocate_fresh(std::size_t size, std::size_t alignment, const Request& request) {
  alignment = alignment_of(size, alignment);
  std::size_t mapped = request.growing ? with_room(size) : size;
  std::uintptr_t fresh = mapped > size ? map_pages(mapped_size(mapped), alignment) : 0;
  if (fresh == 0) {
    mapped = size;
    fresh = map_fresh(size, alignment);
  }
  if (fresh == 0) return out_of_memory();
  if (!register_block(fresh, mapped, request)) {
    unmap_pages(fresh, mapped_size(mapped));
    return out_of_memory();
  }
  // One system call replaces a fault for each page. Longer blocks are not populated, because the program may mean to
  // keep them sparse.
  if (size <= settings_.populate_limit) {
    populate_pages(fresh, size);
    return as_pointer(fresh);
  }
  if (policy().foresees_reads && request.contents == Contents::kZero) foresee_reads(fresh, size, 0);
  return as_pointer(fresh);
}

void LargeHeap::foresee_reads(std::uintptr_t address, std::size_t size, std::size_t populated) {
  if (reads_.is_idle()) return;
  ReadHabit::What what;
  {
    const Guard guard(lock_);
    what = reads_.next(size);
  }
  if (what == ReadHabit::What::kPopulate) populate_pages(address, size);
  if (what != ReadHabit::What::kWatch || !can_look()) return;
  const std::uint64_t faults = minor_faults();
  const Guard guard(lock_);
  reads_.watch(address, size, populated, faults);
}

// Evaluates the watched block, which is about to be freed.
void LargeHeap::learn_of_reads() {
  PagesUsed used;
  used.faults = minor_faults();
  std::uintptr_t address = 0;
  std::size_t size = 0;
  {
    const Guard guard(lock_);
    address = reads_.watched();
    size = reads_.watched_bytes();
  }
  const std::uint32_t written = count_populated(address, size);
  const std::uint32_t read = count_only_read(address, size);
  const Guard guard(lock_);
  if (reads_.watched() != address) return;
  if (written == Block::kUnknown || read == Block::kUnknown) return reads_.forget();
  used.all = size / page_size();
  used.written = written;
  used.read = read;
  reads_.end_watch(used);
}

Block& LargeHeap::count_in_use_locked(const Block& block, std::size_t asked) {
  Block& kept = in_use_.insert(block);
  kept.asked = asked;
  add_in_use_locked(in_use(kept));
  return kept;
}

void LargeHeap::add_in_use_locked(std::size_t bytes) {
  reads_.disturb();
  statistics_.in_use_bytes += bytes;
  if (statistics_.in_use_bytes > statistics_.peak_in_use_bytes) {
    statistics_.peak_in_use_bytes = statistics_.in_use_bytes;
  }
}

void LargeHeap::resize_locked(std::uintptr_t address, std::size_t size, std::size_t asked) {
  Block& block = in_use_.at(address);
  statistics_.in_use_bytes -= in_use(block);
  block.size = size;
  block.asked = asked;
  add_in_use_locked(in_use(block));
}

// Returns the bytes of a block that count as in use. Room for growth does not count until the program asks for it.
// Policies that foresee growth count the requested pages instead of the whole block.
std::size_t LargeHeap::in_use(const Block& block) const {
  return policy().foresees_growth ? (block.asked + page_size() - 1) & ~(page_size() - 1) : block.size;
}

std::size_t LargeHeap::held(const Block& block) const {
  return block.resident != Block::kUnknown ? block.resident * page_size() : block.size;
}

// Discards a block if the program has changed its mapping and not changed it back.
void LargeHeap::discard(const Block& block) {
  {
    const Guard guard(lock_);
    const Block kept = in_use_.remove(block.address);
    histories_.give_back(kept.history);
    statistics_.in_use_bytes -= in_use(kept);
    --statistics_.hits;
    ++statistics_.altered;
  }
  unmap_pages(block.address, mapped_size(block.size));
}

bool LargeHeap::register_block(std::uintptr_t address, std::size_t size, const Request& request) {
  const Guard guard(lock_);
  if (!in_use_.reserve()) return false;
  Block block;
  block.address = address;
  block.size = size;
  if (policy().has_witness) block.history = histories_.take();
  if (block.history != nullptr) block.history->purged = true;
  block.use = use_of(request);
  block.grew = request.growing;
  count_in_use_locked(block, request.asked);
  ++statistics_.misses;
  return true;
}

std::size_t LargeHeap::usable_size(const void* pointer) {
  if (pointer == nullptr || !is_page_aligned(pointer)) return 0;
  if (lock_.is_interrupted()) return asked_size(pointer);
  const Guard guard(lock_);
  const std::size_t size = in_use_.find(address_of(pointer));
  if (size == 0) stop_if_cached(address_of(pointer), "realloc or malloc_usable_size");
  return size;
}

std::size_t LargeHeap::use_all(const void* pointer) {
  const std::size_t size = usable_size(pointer);
  if (size != 0 && !lock_.is_interrupted()) ask(address_of(pointer), size);
  return size;
}

std::size_t LargeHeap::asked_size(const void* pointer) {
  if (lock_.is_interrupted()) {
    const Block block = in_use_.peek(address_of(pointer));
    return block.size == 0 || !policy().foresees_growth ? block.size : block.asked;
  }
  const Guard guard(lock_);
  const Block& block = in_use_.at(address_of(pointer));
  return policy().foresees_growth ? block.asked : block.size;
}

void LargeHeap::ask(std::uintptr_t address, std::size_t asked) {
  const Guard guard(lock_);
  resize_locked(address, in_use_.find(address), asked);
}

void LargeHeap::parent_after_fork() {
  next_fork_generation();
  reads_.forget();
  lock_.after_fork();
}

void LargeHeap::child_after_fork() {
  decaying_ = false;  // the decay thread exists only in the parent
  reads_.forget();
  lock_.after_fork();
}

void LargeHeap::stop_if_cached(std::uintptr_t address, const char* call) const {
  if (!ring_.contains(address)) return;
  Message message;
  message.add_text(call).add_text(": block ").add_pointer(as_pointer(address));
  message.add_text(" has been freed before and is in the cache; find the first call that freed the block").print();
  std::abort();
}

void LargeHeap::statistics(struct largecache_statistics& out) {
  std::unique_lock<Lock> guard(lock_, std::defer_lock);
  if (!lock_.is_interrupted()) guard.lock();
  out = statistics_;
  out.zeroed_bytes = zeroed_bytes_.load(std::memory_order_relaxed);
  out.purged_bytes = purged_bytes_.load(std::memory_order_relaxed);
  out.entries = ring_.size();
}

}  // namespace zerotax::largecache
