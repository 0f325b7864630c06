#include "record/preload/live_blocks.h"

#include <sys/mman.h>

#include "record/preload/real.h"

namespace zerotax::record {
namespace {

// A bucket of eight addresses is one line of the cache. Level k has 64 << k buckets, and is used when a bucket of the
// level above is full, so that few blocks take few pages: 2 million blocks in all.
constexpr std::size_t kSlots = 8;
constexpr std::size_t kFirstBuckets = 64;
constexpr std::size_t kLevels = 12;
constexpr std::size_t kBuckets = kFirstBuckets * ((std::size_t{1} << kLevels) - 1);

struct alignas(64) Bucket {
  std::atomic<std::uintptr_t> begins[kSlots];  ///< 0: free
};

struct Table {
  Bucket buckets[kBuckets];
  LiveBlock blocks[kBuckets * kSlots];
};

Table* table = nullptr;
std::atomic<std::size_t> levels_used{0};

std::size_t bucket_of(std::uintptr_t begin, std::size_t level) {
  const std::size_t before = kFirstBuckets * ((std::size_t{1} << level) - 1);
  const std::uint64_t hash = (begin >> 4) * 0x9e3779b97f4a7c15;
  return before + (hash >> 40) % (kFirstBuckets << level);
}

/// Calls visit(slot, index) for the slots where a block may be, until it returns true.
template <typename Visit>
bool find_slot(std::uintptr_t begin, std::size_t levels, Visit visit) {
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t bucket = bucket_of(begin, level);
    for (std::size_t i = 0; i < kSlots; ++i) {
      if (visit(table->buckets[bucket].begins[i], bucket * kSlots + i)) return true;
    }
  }
  return false;
}

constexpr std::uint8_t kUnknown = 255;

/// One more or less; what cannot be counted is no longer known.
void count(std::atomic<std::uint8_t>& filter, int change) {
  std::uint8_t known = filter;
  while (known != kUnknown && !filter.compare_exchange_weak(known, static_cast<std::uint8_t>(known + change))) {
  }
}

void use_level(std::size_t index) {
  std::size_t level = 0;
  for (std::size_t end = kFirstBuckets; index / kSlots >= end; end += kFirstBuckets << level) ++level;
  std::size_t used = levels_used;
  while (used < level + 1 && !levels_used.compare_exchange_weak(used, level + 1)) {
  }
}

}  // namespace

std::atomic<std::uint8_t> live_filter[kFilters];

void open_live_blocks() {
  if (table != nullptr) ::munmap(static_cast<void*>(table), sizeof(Table));
  // Shared: the kernel counts it as shared memory, not as the program's anonymous memory.
  void* memory =
      ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  table = memory == MAP_FAILED ? nullptr : static_cast<Table*>(memory);
  // Written to only where it must be: a page of it is a page fault of every program that starts.
  const std::uint8_t first = early_used ? kUnknown : 0;
  for (auto& filter : live_filter) {
    if (filter.load(std::memory_order_relaxed) != first) filter = first;
  }
  levels_used = 0;
}

bool remember_block(const LiveBlock& block) {
  if (table == nullptr) return false;
  // One that was freed behind our back may still be there.
  LiveBlock stale;
  if (may_be_live(reinterpret_cast<const void*>(block.begin)))
    take_block(reinterpret_cast<const void*>(block.begin), stale);
  return find_slot(block.begin, kLevels, [&](std::atomic<std::uintptr_t>& slot, std::size_t index) {
    std::uintptr_t expected = 0;
    if (!slot.compare_exchange_strong(expected, block.begin)) return false;
    table->blocks[index] = block;
    use_level(index);
    count(live_filter_of(reinterpret_cast<const void*>(block.begin)), 1);
    return true;
  });
}

bool take_block(const void* block, LiveBlock& found) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  return find_slot(begin, levels_used, [&](std::atomic<std::uintptr_t>& slot, std::size_t index) {
    if (slot.load(std::memory_order_relaxed) != begin) return false;
    found = table->blocks[index];
    slot = 0;
    count(live_filter_of(block), -1);
    return true;
  });
}

void for_each_live_block(void (*visit)(void* context, LiveBlock& block), void* context) {
  const std::size_t buckets = kFirstBuckets * ((std::size_t{1} << levels_used) - 1);
  for (std::size_t i = 0; i < buckets * kSlots; ++i) {
    if (table->buckets[i / kSlots].begins[i % kSlots] != 0) visit(context, table->blocks[i]);
  }
}

}  // namespace zerotax::record
