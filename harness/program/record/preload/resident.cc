#include "record/preload/resident.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "os/clock.h"
#include "record/preload/allocator_counts.h"
#include "record/preload/block_table.h"
#include "record/preload/instructions.h"
#include "record/preload/known_stacks.h"
#include "record/preload/own_stack.h"
#include "record/preload/process.h"
#include "record/preload/shared_memory.h"
#include "record/preload/site.h"

namespace zerotax::record {

bool resident_kept = false;

namespace {

/// A driver that has not answered after this time is too busy, and the program runs on.
constexpr std::int64_t kLongestWait_ns = 10'000'000'000;
/// A driver whose beat has not changed for this time has ended.
constexpr std::int64_t kLongestBeat_ns = 2'000'000'000;
constexpr std::int64_t kLongestCopy_ns = 1'000'000'000;
/// A signal handler that ends the process may have interrupted the thread that asks the driver.
constexpr std::int64_t kLongestTurn_ns = 1'000'000'000;
/// The driver looks at a peak that is higher than the last one by this part and this number of bytes.
constexpr std::uint64_t kHigherPart = 20;
constexpr std::uint64_t kHigherBytes = std::uint64_t{1} << 20;

ResidentArea* area = nullptr;
constinit BlockTable<ResidentBlock, kResidentLevels> blocks;
static_assert(decltype(blocks)::bytes() <= sizeof(ResidentArea::blocks));
constinit std::atomic<std::uint64_t> asked_peak{0};
constinit std::atomic<bool> driver_is_gone{false};
constinit std::atomic<std::uint32_t> asking{0};  ///< 1: a thread asks the driver
/// The block that this thread removed last, which it may be freeing.
constinit thread_local ResidentBlock left [[gnu::tls_model("initial-exec")]]{};

ResidentArea* map_area(std::uint32_t slot_index) {
  SharedMemory memory(kArenaVariable, kArenaMagic, kResidentFileBytes);
  if (!memory.found()) return nullptr;
  return static_cast<ResidentArea*>(memory.map(kResidentOffset + slot_index * kResidentBytes, kResidentBytes));
}

/// Returns the leaf of a page, or nullptr if the page has none. With `make`, makes the leaf.
Leaf* find_leaf(ResidentArea& in, std::uintptr_t page, bool make) {
  const std::uint64_t key = page / kLeafPages + 1;
  for (std::size_t probe = 0; probe < kLeafProbes; ++probe) {
    Leaf& leaf = in.leaves[(key + probe) % kLeaves];
    std::uint64_t known = leaf.key.load(std::memory_order_relaxed);
    if (known == key) return &leaf;
    if (known != 0) continue;
    if (!make) return nullptr;
    if (leaf.key.compare_exchange_strong(known, key) || known == key) return &leaf;
  }
  return nullptr;
}

/// Calls visit(leaf, marks, first, end) for the parts of a range of pages, each within one leaf. A range with more
/// pages than there is room for is cut.
template <typename Visit>
void for_each_part(AddressRange range, bool make, Visit visit) {
  const std::uintptr_t end = range.end / page_bytes();
  std::size_t parts = 0;
  for (std::uintptr_t page = range.begin / page_bytes(); page < end && parts < kLeaves; ++parts) {
    const std::uintptr_t next = (page / kLeafPages + 1) * kLeafPages;
    const std::uintptr_t until = next < end ? next : end;
    if (Leaf* const leaf = find_leaf(*area, page, make)) {
      const std::size_t first = page % kLeafPages;
      visit(*leaf, &area->marks[leaf - &area->leaves[0]][0], first, first + (until - page));
    } else if (make) {
      ++area->head.lost_marks;
    }
    page = until;
  }
}

/// Replaces the marks of a range by change(mark). Pages without a mark keep none.
template <typename Change>
void change_marks(AddressRange range, Change change) {
  if (area == nullptr) return;
  const auto visit = [&](Leaf& leaf, std::atomic<std::uint16_t>* marks, std::size_t first, std::size_t end) {
    const std::uint16_t common = leaf.common;
    if (end - first == kLeafPages && common != kUnmarked) leaf.common = change(common);
    if (leaf.has_marks == 0 && (end - first == kLeafPages || common == kUnmarked)) return;
    leaf.has_marks = 1;
    for (std::size_t i = first; i < end; ++i) {
      const std::uint16_t own = marks[i].load(std::memory_order_relaxed);
      const std::uint16_t mark = own != kUnmarked ? own : common;
      if (mark != kUnmarked) marks[i].store(change(mark), std::memory_order_relaxed);
    }
  };
  for_each_part(range.pages(), false, visit);
}

/// Waits while a child of fork copies the area.
void wait_for_copy() {
  if (area == nullptr || area->head.copying == 0) [[likely]]
    return;
  const std::int64_t began = monotonic_ns();
  while (area->head.copying != 0 && monotonic_ns() - began < kLongestCopy_ns) ::sched_yield();
}

/// Returns 1 + the index of the current call stack's site; 0 if it is unknown.
std::uint32_t current_block_site() {
  if (area == nullptr) return 0;
  const std::uintptr_t frame = state.mark;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  std::uint32_t found = known_site(area->known_stacks, here, frame);
  if (found != 0) return found;
  on_own_stack([&] {
    const TimedOwnWork own;
    Stack stack;
    current_stack(stack);
    const std::uint64_t key = key_of(stack, SiteKind::kOther);
    for (std::size_t probe = 0; probe < kLeafProbes; ++probe) {
      std::atomic<std::uint32_t>& place = area->site_index[((key >> 32) + probe) % std::size(area->site_index)];
      std::uint32_t index = place;
      if (index == 0) {
        if (area->head.sites_used >= kBlockSites) break;
        const std::uint32_t made = area->head.sites_used.fetch_add(1);
        if (made >= kBlockSites) break;
        BlockSite& site = area->sites[made];
        site.depth = stack.depth;
        for (std::uint32_t i = 0; i < stack.depth; ++i) site.frames[i] = frame_of(stack.addresses[i]);
        site.key = key;
        if (place.compare_exchange_strong(index, made + 1)) index = made + 1;
      }
      if (index <= kBlockSites && area->sites[index - 1].key == key) {
        found = index;
        remember_stack(area->known_stacks, here, frame, stack, found);
        return;
      }
    }
    ++area->head.lost_sites;
  });
  return found;
}

void enter(const ResidentBlock& block) {
  if (!blocks.remember(block) && area != nullptr) ++area->head.lost_blocks;
  if (area == nullptr) return;
  const AddressRange pages = range_of(reinterpret_cast<void*>(block.begin), block.bytes).pages();
  mark_pages(pages, static_cast<std::uint16_t>(kFirstSite + block.site));
  area->head.changes.fetch_add(1, std::memory_order_relaxed);
}

/// Copies the used parts of another process's area.
void copy_from(const ResidentArea& from) {
  area->head.lost_blocks = from.head.lost_blocks.load();
  area->head.lost_marks = from.head.lost_marks.load();
  area->head.lost_sites = from.head.lost_sites.load();
  const std::uint32_t used = from.head.sites_used;
  area->head.sites_used = used;
  const std::uint32_t sites = used < kBlockSites ? used : kBlockSites;
  std::memcpy(static_cast<void*>(&area->sites[0]), &from.sites[0], sites * sizeof(BlockSite));
  if (sites != 0) std::memcpy(static_cast<void*>(&area->site_index[0]), &from.site_index[0], sizeof area->site_index);
  for (std::size_t i = 0; i < kLeaves; ++i) {
    const Leaf& leaf = from.leaves[i];
    if (leaf.key == 0) continue;
    std::memcpy(static_cast<void*>(&area->leaves[i]), &leaf, sizeof leaf);
    if (leaf.has_marks == 0) continue;
    std::memcpy(static_cast<void*>(&area->marks[i][0]), &from.marks[i][0], sizeof area->marks[i]);
  }
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) {
  return kernel_call(SYS_futex, reinterpret_cast<long>(&word), operation, value, reinterpret_cast<long>(limit));
}

/// Waits until the driver has answered a request.
void wait_for_answer(std::uint32_t number) {
  constexpr timespec kPause{0, 100'000'000};
  const std::int64_t began = monotonic_ns();
  std::int64_t beat_at = began;
  std::uint32_t beat = arena->driver_beats;
  for (std::uint32_t answered = area->head.answered; answered != number; answered = area->head.answered) {
    futex(area->head.answered, FUTEX_WAIT, answered, &kPause);
    const std::int64_t now = monotonic_ns();
    if (arena->driver_beats != beat) {
      beat = arena->driver_beats;
      beat_at = now;
    }
    if (now - beat_at > kLongestBeat_ns) driver_is_gone = true;
    if (driver_is_gone || now - began > kLongestWait_ns) return;
  }
}

bool may_ask() {
  return resident_kept && area != nullptr && !driver_is_gone && process != nullptr && process->pid == ::getpid();
}

/// Waits until no other thread asks. Returns false after `longest_ns`.
bool take_turn(std::int64_t longest_ns) {
  std::uint32_t nobody = 0;
  for (const std::int64_t began = monotonic_ns(); !asking.compare_exchange_strong(nobody, 1); nobody = 0) {
    if (driver_is_gone || monotonic_ns() - began >= longest_ns) return false;
    ::sched_yield();
  }
  return true;
}

void ask_driver(AskedMoment moment, const ResidentBlock& ending) {
  const OwnWork own;
  area->head.moment = moment;
  area->head.ending = ending;
  const std::uint32_t number = ++area->head.asked;
  ++arena->driver_wakes;
  futex(arena->driver_wakes, FUTEX_WAKE, 1, nullptr);
  wait_for_answer(number);
  asking = 0;
}

}  // namespace

void keep_resident_early() {
  const char* const wanted = std::getenv(kResidentVariable);
  resident_kept = wanted != nullptr && wanted[0] == '1';
}

void stop_resident() { resident_kept = false; }

void begin_resident(std::uint32_t slot_index) {
  if (!resident_kept) return;
  area = map_area(slot_index);
  if (area == nullptr) return stop_resident();
  find_allocator_counts();
  blocks.open(true, false, &area->blocks[0]);
  const auto mark = [](void* /*context*/, ResidentBlock& block) {
    mark_pages(range_of(reinterpret_cast<void*>(block.begin), block.bytes).pages(), kFirstSite);
  };
  blocks.for_each(mark, nullptr);
  area->head.ready = 1;
}

void note_resident_fork() {
  if (!resident_kept || area == nullptr) return;
  area->head.copying = 1;
}

void end_resident_fork() {
  if (!resident_kept || area == nullptr) return;
  wait_for_copy();
  area->head.copying = 0;
}

void copy_resident(std::uint32_t slot_index) {
  if (!resident_kept || area == nullptr) return;
  ResidentArea* const parents = area;
  area = slot_index < kProcesses ? map_area(slot_index) : nullptr;
  asking = 0;
  asked_peak = 0;
  if (area != nullptr) {
    copy_from(*parents);
    blocks.open(true, false, &area->blocks[0]);
    area->head.ready = 1;
  } else {
    stop_resident();
  }
  parents->head.copying = 0;
  ::munmap(parents, kResidentBytes);
}

void enter_resident(void* block, std::uint64_t bytes) {
  wait_for_copy();
  enter({reinterpret_cast<std::uintptr_t>(block), bytes, current_block_site()});
}

void leave_resident(void* block) {
  wait_for_copy();
  if (!blocks.take(block, left)) left = {};
  if (area != nullptr) area->head.changes.fetch_add(1, std::memory_order_relaxed);
}

void restore_resident() {
  if (left.begin != 0) enter(left);
}

void mark_pages(AddressRange range, std::uint16_t mark) {
  if (area == nullptr) return;
  if (mark == kOfStack) forget_known_stacks();
  for_each_part(range.pages(), true,
                [&](Leaf& leaf, std::atomic<std::uint16_t>* marks, std::size_t first, std::size_t end) {
                  if (end - first < kLeafPages) {
                    leaf.has_marks.store(1, std::memory_order_relaxed);
                    for (std::size_t i = first; i < end; ++i) marks[i].store(mark, std::memory_order_relaxed);
                    return;
                  }
                  leaf.common = mark;
                  if (leaf.has_marks.exchange(0) == 0) return;
                  for (std::size_t i = 0; i < kLeafPages; ++i) marks[i].store(kUnmarked, std::memory_order_relaxed);
                });
}

std::uint16_t mark_at(std::uintptr_t address) {
  const std::uintptr_t page = address / page_bytes();
  const Leaf* const leaf = find_leaf(*area, page, false);
  if (leaf == nullptr) return kUnmarked;
  const std::uint16_t mark = area->marks[leaf - &area->leaves[0]][page % kLeafPages].load(std::memory_order_relaxed);
  return mark != kUnmarked ? mark : leaf->common.load(std::memory_order_relaxed);
}

void mark_unmapping(AddressRange range) {
  change_marks(range, [](std::uint16_t mark) { return mark >= kOfAllocator ? kUnmapping : kNotMapped; });
}

void mark_discarded(AddressRange range) {
  change_marks(range,
               [](std::uint16_t mark) { return mark >= kFirstSite ? kOfAllocator : static_cast<PageMark>(mark); });
}

void note_resident_end() {
  if (may_ask() && take_turn(kLongestTurn_ns)) ask_driver(AskedMoment::kEnd, {});
}

void note_allocator_counts() {
  if (!may_ask()) return;
  const bool within_call = state.armed == nullptr;
  const OwnWork own;
  ask_allocator(within_call, area->head.says);
}

void note_resident_peak(std::uint64_t held_bytes, bool frees) {
  if (!may_ask()) return;
  std::uint64_t known = asked_peak;
  if (held_bytes < known + known / kHigherPart + kHigherBytes) return;
  if (!asked_peak.compare_exchange_strong(known, held_bytes) || !take_turn(0)) return;
  ask_driver(AskedMoment::kPeak, frees ? left : ResidentBlock{});
}

}  // namespace zerotax::record
