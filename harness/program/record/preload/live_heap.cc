#include "record/preload/live_heap.h"

#include "record/preload/modules.h"
#include "record/preload/process.h"
#include "record/preload/real.h"
#include "record/preload/resident.h"

namespace zerotax::record {

bool live_heap_counted = false;

namespace {

constexpr std::uint32_t kLastHolder = kSites + 1;

constinit LiveHeap heap;
constinit std::atomic<std::uint64_t> early_peak{0};
std::atomic<std::uint64_t>* peak_bytes = &early_peak;  ///< points into the process's slot once the process has a slot
std::size_t (*find_size)(void*) = nullptr;             ///< returns the usable bytes of a block
/// First site in the list of sites with live large blocks, as 1 + index. The list is not in the arena, where another
/// process could make it circular.
constinit std::atomic<std::uint32_t> first_holder{kLastHolder};
std::atomic<std::uint32_t> next_holders[kSites];  ///< for each site, 1 + index of the next site; 0: the site is not in
                                                  ///< the list

/// Returns the usable bytes of a block. To answer, an allocator may allocate memory (gperftools does so the first
/// time).
std::uint64_t usable_size(void* block) {
  ThreadState& thread = state;
  const bool before = thread.in_allocator;
  thread.in_allocator = true;
  const std::uint64_t bytes = find_size(block);
  thread.in_allocator = before;
  return bytes;
}

void* live_malloc(std::size_t bytes) {
  return allocated_live(bytes, [&] { return plain_real.malloc(bytes); });
}

void* live_calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return plain_real.calloc(count, size);
  return allocated_live(bytes, [&] { return plain_real.calloc(count, size); });
}

/// A block that moves counts once, although the allocator may hold two copies during the move.
void* live_realloc(void* old, std::size_t bytes) {
  if (old == nullptr || state.in_allocator)
    return allocated_live(bytes, [&] { return plain_real.realloc(old, bytes); });
  const std::uint64_t before = usable_size(old);
  if (bytes >= kLargeBytes) keep_peak();
  heap.leave(before);
  if (resident_kept) leave_resident(old);
  void* const block = allocated_live(0, [&] { return plain_real.realloc(old, bytes); });
  // If realloc failed, the old block still exists.
  if (block == nullptr && bytes != 0) {
    heap.enter(before, *peak_bytes);
    if (resident_kept) restore_resident();
  }
  return block;
}

int live_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  int status = 0;
  allocated_live(bytes, [&] {
    status = plain_real.posix_memalign(block, alignment, bytes);
    return status == 0 ? *block : nullptr;
  });
  return status;
}

void* live_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocated_live(bytes, [&] { return plain_real.aligned_alloc(alignment, bytes); });
}

void* live_memalign(std::size_t alignment, std::size_t bytes) {
  return allocated_live(bytes, [&] { return plain_real.memalign(alignment, bytes); });
}

void* live_valloc(std::size_t bytes) {
  return allocated_live(bytes, [&] { return plain_real.valloc(bytes); });
}

void* live_pvalloc(std::size_t bytes) {
  return allocated_live(bytes, [&] { return plain_real.pvalloc(bytes); });
}

void live_free(void* block) {
  released_live(block, [&] { plain_real.free(block); });
}

/// Adds a site to the list of sites with live blocks.
void list(Site& site) {
  const auto place = static_cast<std::uint32_t>(&site - &process->sites[0]) + 1;
  std::atomic<std::uint32_t>& next = next_holders[place - 1];
  std::uint32_t unlisted = 0;
  if (!next.compare_exchange_strong(unlisted, kLastHolder)) return;
  std::uint32_t first = first_holder;
  do {
    next = first;
  } while (!first_holder.compare_exchange_weak(first, place));
}

}  // namespace

void enter_live(void* block) {
  const std::uint64_t bytes = usable_size(block);
  heap.enter(bytes, *peak_bytes);
  if (resident_kept) enter_resident(block, bytes);
}

void leave_live(void* block) {
  heap.leave(usable_size(block));
  if (resident_kept) leave_resident(block);
}

void keep_peak() {
  if (process == nullptr) return;
  Holdings& holdings = process->holdings;
  const std::uint64_t peak = holdings.peak_live_bytes;
  if (peak <= holdings.kept_peak_live_bytes) return;
  for (std::uint32_t place = first_holder; place != kLastHolder;) {
    Site& site = process->sites[place - 1];
    site.live_at_peak_bytes = site.live_bytes.load();
    place = next_holders[place - 1];
  }
  holdings.kept_peak_live_bytes = peak;
}

void enter_site(LiveBlock& block) {
  block.live_bytes = usable_size(reinterpret_cast<void*>(block.begin));
  if (block.site == nullptr) return;
  list(*block.site);
  block.site->live_bytes += block.live_bytes;
}

void leave_site(const LiveBlock& block) {
  if (block.site == nullptr) return;
  keep_peak();
  block.site->live_bytes -= block.live_bytes;
}

void count_live_heap() {
  find_size = reinterpret_cast<decltype(find_size)>(find_next("malloc_usable_size"));
  const auto is_own = [](auto function) { return is_beside_malloc(reinterpret_cast<const void*>(function)); };
  if (find_size == nullptr || !is_own(find_size) || !is_own(real.free)) return;
  // A function that this allocator lacks belongs to another allocator, and is not replaced.
  const auto stand_before = [&](auto& function, auto* ours) {
    if (is_own(function)) function = ours;
  };
#define ZEROTAX_STAND_BEFORE(Result, name, symbol, parameters, arguments) stand_before(real.name, live_##name);
  ZEROTAX_ALLOCATOR_FUNCTIONS(ZEROTAX_STAND_BEFORE)
  live_heap_counted = true;
  keep_resident_early();
}

void begin_live_heap(ProcessSlot* slot) {
  if (slot != nullptr && arena->counts_live_heap != 0) {
    if (!live_heap_counted) slot->gaps |= kNoUsableSize;
    slot->holdings.peak_live_bytes = early_peak.load();
    peak_bytes = &slot->holdings.peak_live_bytes;
  } else if (live_heap_counted) {
    live_heap_counted = false;
    real = plain_real;
  }
}

void open_live_heap(ProcessSlot& child) {
  first_holder = kLastHolder;
  if (live_heap_counted) {
    for (auto& next : next_holders) next = 0;
  }
  child.holdings.peak_live_bytes = heap.bytes();
  peak_bytes = &child.holdings.peak_live_bytes;
}

}  // namespace zerotax::record
