#include "largecache/large.h"

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <optional>
#include <type_traits>

#include "largecache/clear.h"
#include "largecache/message.h"
#include "largecache/pagemap.h"
#include "largecache/pages.h"

namespace zerotax::largecache {
namespace {

using Guard = std::lock_guard<Lock>;

// What one page table describes on most machines, and the size of a huge page.
constexpr std::size_t kTableSpan = std::size_t{2} << 20;

std::uintptr_t Address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

void* OutOfMemory() {
  errno = ENOMEM;
  return nullptr;
}

// Wraps after 49 days; ages are differences.
std::uint32_t Milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint32_t>(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}

bool SeemsUntouched(const Block& block) {
  return block.history != nullptr && block.history->pages != 0 && block.history->touched == 0 && block.history->settled;
}

}  // namespace

static_assert(std::is_trivially_destructible_v<LargeHeap>, "free is called after destructors");

bool LargeHeap::IsLargeUnlessUnread(std::size_t size) {
  if (threshold_.load(std::memory_order_acquire) != 0) return true;  // IsLarge has compared
  const Guard guard(lock_);
  if (threshold_.load(std::memory_order_relaxed) == 0 && source_(settings_)) {
    threshold_.store(settings_.threshold, std::memory_order_release);
  }
  return size > settings_.threshold;
}

bool LargeHeap::IsLargeByAlignment(std::size_t alignment) {
  static_cast<void>(IsLarge(1));  // so that the policy has been read
  return alignment > policy().most_small_alignment;
}

// A block of no bytes is one granule.
std::optional<std::size_t> LargeHeap::RoundUp(std::size_t size) const {
  const std::optional<std::size_t> pages = RoundUpToPages(size == 0 ? 1 : size);
  const std::size_t mask = policy().granule - 1;
  if (!pages || *pages > static_cast<std::size_t>(PTRDIFF_MAX) - mask) return std::nullopt;
  return (*pages + mask) & ~mask;
}

// What is mapped for a block of `size` bytes.
std::size_t LargeHeap::Mapped(std::size_t size) const { return policy().has_witness ? size + WitnessSize() : size; }

void LargeHeap::Unmap(const Evicted& evicted) const {
  for (std::size_t i = 0; i < evicted.count; ++i) UnmapPages(evicted.blocks[i].address, Mapped(evicted.blocks[i].size));
}

void* LargeHeap::Allocate(std::size_t size, std::size_t alignment, Contents contents, bool growing) {
  const std::optional<std::size_t> rounded = RoundUp(size);
  if (!rounded) return OutOfMemory();
  const Request request{size, contents, growing && policy().foresees_growth};
  for (Block block; TakeCached(*rounded, alignment, request, block);) {
    if (!AgreesWithWitness(block.address, block.size)) {
      Discard(block);
      continue;
    }
    // MADV_FREE_REUSE would come here if the block had been madvised: on Linux nothing needs to be
    // undone, a write to a page takes it back (madvise(2), MADV_FREE).
    if (contents == Contents::kZero) {
      const Cleared cleared = policy().clear(block, *rounded, ForkGeneration());
      if (cleared.zeroed_bytes != 0) zeroed_bytes_.fetch_add(cleared.zeroed_bytes, std::memory_order_relaxed);
      if (cleared.purged_bytes != 0) purged_bytes_.fetch_add(cleared.purged_bytes, std::memory_order_relaxed);
      // One of which nothing is populated is given back each time, because the program leaves it alone.
      const bool partly = cleared.zeroed_bytes > 0 && cleared.zeroed_bytes < *rounded;
      if (partly && policy().foresees_reads) ForeseeReads(block.address, *rounded, cleared.zeroed_bytes / PageSize());
    } else if (block.history != nullptr) {
      *block.history = {};  // nobody will know what the program found there
    }
    return AsPointer(block.address);
  }
  if (policy().foresees_growth && contents == Contents::kAny && alignment <= PageSize()) {
    if (void* const part = growing ? nullptr : Cut(*rounded, request)) return part;
    if (void* const extended = Extend(*rounded, request)) return extended;
  }
  return AllocateFresh(*rounded, alignment, request);
}

bool LargeHeap::AgreesWithWitness(std::uintptr_t address, std::size_t size) const {
  return !policy().has_witness || WitnessAgrees(address, size) || WitnessAgreesWithoutAdvice(address, size);
}

// So that a purge walks only page tables of this block, and moving it moves whole page tables. (The kernel aligns by
// itself only what is a multiple of this long, which the witness spoils.)
std::size_t LargeHeap::AlignmentOf(std::size_t size, std::size_t alignment) const {
  if (policy().has_witness && size >= kTableSpan / 2 && alignment < kTableSpan) alignment = kTableSpan;
  return alignment < policy().block_alignment ? policy().block_alignment : alignment;
}

// Fresh pages are zero: never a memset here.
std::uintptr_t LargeHeap::MapFresh(std::size_t size, std::size_t alignment) {
  const std::uintptr_t fresh = MapPages(Mapped(size), alignment);
  if (fresh != 0) return fresh;
  // Giving back the cache may help, for example under a limit on the address space. None of Apple's allocators does
  // this: they report that there is no memory, and keep their cache (libmalloc-116, magazine_large.c:463-465).
  // README.md says why.
  Decay(true);
  return MapPages(Mapped(size), alignment);
}

void* LargeHeap::AllocateFresh(std::size_t size, std::size_t alignment, const Request& request) {
  alignment = AlignmentOf(size, alignment);
  std::size_t mapped = request.growing ? WithRoom(size) : size;
  std::uintptr_t fresh = mapped > size ? MapPages(Mapped(mapped), alignment) : 0;
  if (fresh == 0) {
    mapped = size;
    fresh = MapFresh(size, alignment);
  }
  if (fresh == 0) return OutOfMemory();
  if (!Register(fresh, mapped, request)) {
    UnmapPages(fresh, Mapped(mapped));
    return OutOfMemory();
  }
  if (policy().foresees_reads && request.contents == Contents::kZero) ForeseeReads(fresh, size, 0);
  return AsPointer(fresh);
}

void LargeHeap::ForeseeReads(std::uintptr_t address, std::size_t size, std::size_t populated) {
  if (reads_.IsIdle()) return;
  ReadHabit::What what;
  {
    const Guard guard(lock_);
    what = reads_.Next(size);
  }
  if (what == ReadHabit::What::kPopulate) PopulatePages(address, size);
  if (what != ReadHabit::What::kWatch || !CanLook()) return;
  const std::uint64_t faults = MinorFaults();
  const Guard guard(lock_);
  reads_.Watch(address, size, populated, faults);
}

// Of the block that is watched, which is about to be freed.
void LargeHeap::LearnOfReads() {
  PagesUsed used;
  used.faults = MinorFaults();
  std::uintptr_t address = 0;
  std::size_t size = 0;
  {
    const Guard guard(lock_);
    address = reads_.watched();
    size = reads_.watched_bytes();
  }
  const std::uint32_t written = CountPopulated(address, size);
  const std::uint32_t read = CountOnlyRead(address, size);
  const Guard guard(lock_);
  if (reads_.watched() != address) return;
  if (written == Block::kUnknown || read == Block::kUnknown) return reads_.Forget();
  used.all = size / PageSize();
  used.written = written;
  used.read = read;
  reads_.End(used);
}

Block& LargeHeap::CountInUseLocked(const Block& block, std::size_t asked) {
  Block& kept = in_use_.Insert(block);
  kept.asked = asked;
  AddInUseLocked(InUse(kept));
  return kept;
}

void LargeHeap::AddInUseLocked(std::size_t bytes) {
  reads_.Disturb();
  statistics_.in_use_bytes += bytes;
  if (statistics_.in_use_bytes > statistics_.peak_in_use_bytes) {
    statistics_.peak_in_use_bytes = statistics_.in_use_bytes;
  }
}

void LargeHeap::ResizeLocked(std::uintptr_t address, std::size_t size, std::size_t asked) {
  Block& block = in_use_.At(address);
  statistics_.in_use_bytes -= InUse(block);
  block.size = size;
  block.asked = asked;
  AddInUseLocked(InUse(block));
}

// Room that was mapped for growth is no memory until the program asks for it. The policies that foresee it count in
// pages.
std::size_t LargeHeap::InUse(const Block& block) const {
  return policy().foresees_growth ? (block.asked + PageSize() - 1) & ~(PageSize() - 1) : block.size;
}

std::size_t LargeHeap::Held(const Block& block) const {
  return block.resident != Block::kUnknown ? block.resident * PageSize() : block.size;
}

// A block whose mapping the program has changed, and not changed back.
void LargeHeap::Discard(const Block& block) {
  {
    const Guard guard(lock_);
    const Block kept = in_use_.Remove(block.address);
    histories_.Return(kept.history);
    statistics_.in_use_bytes -= InUse(kept);
    --statistics_.hits;
    ++statistics_.altered;
  }
  UnmapPages(block.address, Mapped(block.size));
}

bool LargeHeap::Register(std::uintptr_t address, std::size_t size, const Request& request) {
  const Guard guard(lock_);
  if (!in_use_.Reserve()) return false;
  Block block;
  block.address = address;
  block.size = size;
  if (policy().has_witness) block.history = histories_.Take();
  if (block.history != nullptr) block.history->purged = true;
  block.use = UseOf(request);
  block.grew = request.growing;
  CountInUseLocked(block, request.asked);
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

std::size_t LargeHeap::UseAll(const void* pointer) {
  const std::size_t size = UsableSize(pointer);
  if (size != 0) Ask(Address(pointer), size);
  return size;
}

std::size_t LargeHeap::Asked(const void* pointer) {
  const Guard guard(lock_);
  const Block& block = in_use_.At(Address(pointer));
  return policy().foresees_growth ? block.asked : block.size;
}

void LargeHeap::Ask(std::uintptr_t address, std::size_t asked) {
  const Guard guard(lock_);
  ResizeLocked(address, in_use_.Find(address), asked);
}

bool LargeHeap::Free(void* pointer) {
  if (pointer == nullptr || !IsPageAligned(pointer)) return false;
  const int saved_errno = errno;
  if (reads_.watched() == Address(pointer)) LearnOfReads();
  Block block;
  Evicted evicted;
  AtFree how = AtFree::kKeep;
  bool start_decay = false;
  bool counts = false;
  {
    const Guard guard(lock_);
    block = in_use_.Remove(Address(pointer));
    if (block.size == 0) {
      StopIfCached(Address(pointer), "double free");
      return false;
    }
    statistics_.in_use_bytes -= InUse(block);
    // Where all of it would not fit, its populated pages may. Beside others that is asked long before, as what is
    // cached until then counts in full; a block by itself need not pay for a system call, nor one that, as far as its
    // history shows, nobody touches.
    counts = policy().sorts_by_contents && settings_.entries > 0 &&
             (block.use == Use::kZeroed || block.asked < block.size) &&
             held_bytes_ + block.size > MemoryLimitLocked() / (held_bytes_ > 0 && !SeemsUntouched(block) ? 2 : 1);
    // A block that is large only because of its alignment is not kept (xzone_segment.c:2963).
    if (!policy().should_cache(settings_, block.size) || block.size <= settings_.threshold ||
        (block.size > MemoryLimitLocked() && !counts)) {
      counts = false;
      ++statistics_.unmapped;
      GiveUpLocked(block, evicted);
    } else {
      if (block.madvised) block.madvised = false;  // seldom: block.h says why not always
      how = policy().at_free(settings_, statistics_.reserve_bytes, block.size);
      if (how == AtFree::kKeep && !counts) PushLocked(block, evicted);
      start_decay = WantsDecayLocked();
    }
  }
  if (how != AtFree::kKeep) {
    Recache(block, how);
  } else if (counts) {
    CacheCounted(block);
  }
  Unmap(evicted);
  if (start_decay) StartDecay();
  errno = saved_errno;
  return true;
}

// The block is in neither the table nor the ring while it is madvised, so no other thread can be
// given it before the pages have been offered: MADV_FREE after that would throw the new owner's
// bytes away.
void LargeHeap::Recache(Block& block, AtFree how) {
  const bool offer = how == AtFree::kOffer;
  block.madvised = offer ? OfferPages(block.address, block.size) : PurgePages(block.address, block.size);
  Evicted evicted;
  {
    const Guard guard(lock_);
    if (block.madvised) ++statistics_.madvised;
    if (block.madvised && !offer) purged_bytes_.fetch_add(block.size, std::memory_order_relaxed);
    if (block.madvised || !offer) {
      PushLocked(block, evicted);
    } else {
      ++statistics_.unmapped;
      GiveUpLocked(block, evicted);
    }
  }
  Unmap(evicted);
}

void LargeHeap::CacheCounted(Block& block) {
  block.resident = CountPopulated(block.address, block.size);
  Evicted evicted;
  {
    const Guard guard(lock_);
    if (Held(block) > MemoryLimitLocked()) {
      ++statistics_.unmapped;
      GiveUpLocked(block, evicted);
    } else {
      PushLocked(block, evicted);
    }
  }
  Unmap(evicted);
}

void LargeHeap::PushLocked(const Block& block, Evicted& evicted) {
  const std::uint32_t now = settings_.decay_ms > 0 ? Milliseconds() : 0;
  if (settings_.decay_ms > 0) EvictAgedLocked(now, false, evicted);
  const std::size_t limit = MemoryLimitLocked();
  while (ring_.size() >= settings_.entries || (ring_.size() > 0 && held_bytes_ + Held(block) > limit)) {
    EvictOldestLocked(evicted);
  }
  ring_.Push(block, settings_.entries);
  ring_.newest().freed_at = now;
  statistics_.cached_bytes += block.size;
  held_bytes_ += Held(block);
  if (!block.madvised) statistics_.reserve_bytes += block.size;
}

void LargeHeap::EvictOldestLocked(Evicted& evicted) {
  const Block oldest = ring_.PopOldest();
  ++statistics_.evictions;
  statistics_.cached_bytes -= oldest.size;
  held_bytes_ -= Held(oldest);
  if (!oldest.madvised) statistics_.reserve_bytes -= oldest.size;
  GiveUpLocked(oldest, evicted);
}

// The block is in neither the table nor the ring any more, and is to be unmapped.
void LargeHeap::GiveUpLocked(const Block& block, Evicted& evicted) {
  histories_.Return(block.history);
  evicted.Add(block);
}

void LargeHeap::EvictAgedLocked(std::uint32_t now, bool all, Evicted& evicted) {
  while (ring_.size() > 0 && (all || now - ring_.at(0).freed_at > settings_.decay_ms)) EvictOldestLocked(evicted);
}

// Bytes that the cache may hold: a fixed share of memory, and never more than brings the total to 1.25 times the most
// that the program ever held.
std::size_t LargeHeap::MemoryLimitLocked() const {
  if (!policy().bounded_by_peak) return settings_.memory_limit;
  const std::size_t peak = statistics_.peak_in_use_bytes;
  const std::size_t by_peak = peak + peak / 4 - statistics_.in_use_bytes;
  return by_peak < settings_.memory_limit ? by_peak : settings_.memory_limit;
}

bool LargeHeap::WantsDecayLocked() const { return settings_.decay_ms > 0 && start_decay_ != nullptr && !decaying_; }

bool LargeHeap::Decay(bool all, bool stay) {
  Evicted evicted;
  bool more = false;
  {
    const Guard guard(lock_);
    EvictAgedLocked(Milliseconds(), all, evicted);
    if (all) reads_.Unlearn();
    more = ring_.size() > 0;
    if (!more && !all && !stay) decaying_ = false;
  }
  Unmap(evicted);
  return more || all || stay;
}

void LargeHeap::StartDecay() {
  {
    const Guard guard(lock_);
    if (decaying_) return;
    decaying_ = true;
  }
  // May allocate, hence no lock. If it cannot be started now, later attempts are unlikely to succeed: decaying_ stays
  // set, and blocks are given back as others are freed.
  start_decay_(*this);
}

void LargeHeap::ParentAfterFork() {
  NextForkGeneration();
  reads_.Forget();
  lock_.ParentAfterFork();
}

void LargeHeap::ChildAfterFork() {
  decaying_ = false;  // the thread belongs to the parent
  reads_.Forget();
  lock_.ChildAfterFork();
}

void LargeHeap::StopIfCached(std::uintptr_t address, const char* call) const {
  if (!ring_.Contains(address)) return;
  Message message;
  message.Text(call).Text(": block ").Pointer(AsPointer(address));
  message.Text(" has been freed before and is in the cache; find the first free of it").Send();
  std::abort();
}

void LargeHeap::Statistics(struct largecache_statistics& out) {
  const Guard guard(lock_);
  out = statistics_;
  out.zeroed_bytes = zeroed_bytes_.load(std::memory_order_relaxed);
  out.purged_bytes = purged_bytes_.load(std::memory_order_relaxed);
  out.entries = ring_.size();
}

}  // namespace zerotax::largecache
