#include "record/preload/calls.h"

#include <cerrno>

#include "os/page.h"
#include "record/preload/block_table.h"
#include "record/preload/examine.h"
#include "record/preload/forks.h"
#include "record/preload/holdings.h"
#include "record/preload/own_stack.h"
#include "record/preload/process.h"
#include "record/preload/quiet_child.h"
#include "record/preload/real.h"
#include "record/preload/resident.h"

namespace zerotax::record {

bool calls_noted = false;

namespace {

Real next{};  ///< the allocator's functions, which the recording functions call

/// A block whose populated pages are recorded before it is freed.
struct PagedBlock {
  std::uintptr_t begin;
  std::uint64_t bytes;
};
constinit BlockTable<PagedBlock> paged_blocks;
/// Memory that the program itself mapped. A range stays in the table when parts of it are unmapped, because the driver
/// keeps track of the unmapped parts.
constinit BlockTable<PagedBlock> mapped_ranges;
std::uint64_t early_bytes = 0;  ///< bytes that libraries populated before the first call was recorded

/// Records a range of populated pages. The page on which the block begins has number 0.
void note_range(void* context, AddressRange pages) {
  const auto& block = *static_cast<const PagedBlock*>(context);
  const std::uint64_t first = (pages.begin - page_floor(block.begin)) / page_bytes();
  const std::uint64_t number = pages.bytes() / page_bytes();
  note_call(RawKind::kTouched, reinterpret_cast<const void*>(block.begin), first | number << 32);
}

/// Records the populated pages of a block. An empty range is written first. This distinguishes a block without
/// populated pages from a block whose pages are unknown.
void note_pages(PagedBlock& block) {
  if (process == nullptr) return;
  const OwnWork own;
  note_call(RawKind::kTouched, reinterpret_cast<const void*>(block.begin), 0);
  const AddressRange pages = range_of(reinterpret_cast<const void*>(block.begin), block.bytes).pages();
  if (!for_each_populated(pages, note_range, &block)) {
    note_call(RawKind::kTouched, reinterpret_cast<const void*>(block.begin), pages.bytes() / page_bytes() << 32);
  }
}

void note_populated(AddressRange pages) {
  const auto visit = [](void* /*context*/, AddressRange populated) {
    note_call(RawKind::kPopulated, reinterpret_cast<const void*>(populated.begin), populated.bytes());
  };
  for_each_populated(pages, visit, nullptr);
}

void* noted_malloc(std::size_t bytes) {
  return allocated_noted(RawKind::kMalloc, bytes, 0, [&] { return next.malloc(bytes); });
}

void* noted_calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return next.calloc(count, size);
  return allocated_noted(RawKind::kCalloc, bytes, 0, [&] { return next.calloc(count, size); });
}

void* noted_realloc(void* old, std::size_t bytes) {
  if (!notes_here(state)) return next.realloc(old, bytes);
  note_growing(old);
  state.in_allocator = true;
  void* const block = next.realloc(old, bytes);
  state.in_allocator = false;
  note_grown(block, bytes);
  return block;
}

template <typename Allocate>
void* allocated_aligned(std::size_t alignment, std::size_t bytes, Allocate allocate) {
  return allocated_noted(RawKind::kAligned, bytes, static_cast<std::uint8_t>(class_of(alignment)), allocate);
}

int noted_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  int status = 0;
  allocated_aligned(alignment, bytes, [&] {
    status = next.posix_memalign(block, alignment, bytes);
    return status == 0 ? *block : nullptr;
  });
  return status;
}

void* noted_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocated_aligned(alignment, bytes, [&] { return next.aligned_alloc(alignment, bytes); });
}

void* noted_memalign(std::size_t alignment, std::size_t bytes) {
  return allocated_aligned(alignment, bytes, [&] { return next.memalign(alignment, bytes); });
}

void* noted_valloc(std::size_t bytes) {
  return allocated_aligned(page_bytes(), bytes, [&] { return next.valloc(bytes); });
}

void* noted_pvalloc(std::size_t bytes) {
  const std::size_t pages = page_ceiling(bytes == 0 ? 1 : bytes);
  return allocated_aligned(page_bytes(), pages, [&] { return next.pvalloc(bytes); });
}

void noted_free(void* block) {
  released_noted(block, [&] { next.free(block); });
}

/// Replaces the allocator's functions in `real` with the recording functions. memset and its siblings are not allocator
/// functions, and stay.
void stand_before_allocator() {
  next = real;
#define ZEROTAX_NOTE(Result, name, symbol, parameters, arguments) real.name = noted_##name;
  ZEROTAX_ALLOCATOR_FUNCTIONS(ZEROTAX_NOTE)
}

}  // namespace

void begin_calls() {
  if (open_call_area()) {
    paged_blocks.open(false, false);
    mapped_ranges.open(false, false);
    calls_noted = true;
  }
  if (calls_noted && real.malloc != noted_malloc) stand_before_allocator();
}

void note_early_memory() {
  // The C library's own allocator keeps its memory in the heap of brk.
  if (calls_noted && allocator_code.bytes() == 0) early_bytes = other_pages();
}

void stop_calls() { calls_noted = false; }

void begin_calls_in_child() {
  if (!calls_noted) return;
  paged_blocks.open(true, false);
  mapped_ranges.open(true, false);
  calls_noted = begin_child_stream();
}

namespace {

/// The program's errno during a fork. errno is 0 when fork begins, and only a failed fork changes it.
constinit thread_local int errno_before_fork [[gnu::tls_model("initial-exec")]] = 0;

}  // namespace

void note_fork() {
  errno_before_fork = errno;
  // A quiet child that forks opens a slot, so that its own children have a parent.
  if (quiet_since() != nullptr) prepare(state);
  note_forked_holdings();
  if (calls_noted) note_fork_call();
  note_resident_fork();
  begin_fork(ForkKind::kFork, process != nullptr ? process->holdings.last_bytes.load() : 0);
  errno = 0;
}

void note_forked() {
  end_fork(errno == 0);
  if (errno == 0) errno = errno_before_fork;
  end_resident_fork();
  forget_fork();
}

namespace {

void note_all_held() {
  const TimedOwnWork own;
  paged_blocks.for_each([](void* /*context*/, PagedBlock& block) { note_pages(block); }, nullptr);
  const auto note_mapping = [](void* /*context*/, PagedBlock& mapping) {
    note_populated(range_of(reinterpret_cast<const void*>(mapping.begin), mapping.bytes).pages());
  };
  mapped_ranges.for_each(note_mapping, nullptr);
  ImagePages image = image_pages();
  image.zeroed += early_bytes;
  end_stream(image);
}

}  // namespace

void note_held_blocks() {
  if (!calls_noted || process == nullptr || !is_own_stream() || guard.alive == 0) return;
  on_own_stack(note_all_held);
}

void note_mapped(AddressRange range) {
  if (!notes_here(state)) return;
  mapped_ranges.remember({range.begin, range.bytes()});
  note_call(RawKind::kMapped, reinterpret_cast<const void*>(range.begin), page_ceiling(range.bytes()));
}

void note_unmapping(AddressRange range, bool kept) {
  if (!notes_here(state) || process == nullptr) return;
  {
    const OwnWork own;
    note_populated(range.pages());
  }
  const auto* const begin = reinterpret_cast<const void*>(range.begin);
  PagedBlock mapping{};
  if (!kept && mapped_ranges.may_have(begin) && mapped_ranges.take(begin, mapping) && mapping.bytes > range.bytes()) {
    mapped_ranges.remember({range.end, mapping.bytes - range.bytes()});
  }
  note_call(kept ? RawKind::kReturned : RawKind::kUnmapped, begin, page_ceiling(range.bytes()));
}

void note_huge(AddressRange range) {
  if (!notes_here(state)) return;
  const AddressRange pages = range.pages();
  note_call(RawKind::kHuge, reinterpret_cast<const void*>(pages.begin), pages.bytes());
}

void note_allocation(RawKind kind, const void* block, std::uint64_t bytes, std::uint8_t alignment) {
  if (bytes >= kPagedBytes) paged_blocks.remember({reinterpret_cast<std::uintptr_t>(block), bytes});
  note_call(kind, block, bytes, alignment);
}

void note_release(const void* block) {
  PagedBlock paged{};
  if (paged_blocks.may_have(block) && paged_blocks.take(block, paged)) note_pages(paged);
  note_call(RawKind::kFree, block, 0);
}

void note_growing(const void* old) {
  if (old == nullptr) return;
  PagedBlock paged{};
  if (paged_blocks.may_have(old) && paged_blocks.take(old, paged)) note_pages(paged);
  note_call(RawKind::kGrowing, old, paged.bytes);
}

void note_grown(const void* block, std::uint64_t bytes) {
  if (block != nullptr && bytes >= kPagedBytes) {
    paged_blocks.remember({reinterpret_cast<std::uintptr_t>(block), bytes});
  }
  note_call(RawKind::kGrown, block, bytes);
}

}  // namespace zerotax::record
