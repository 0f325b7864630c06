// Functions that replace the allocator's in a recorded program. The path of small requests is short: no lock, no clock,
// no system call, no allocation.
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "record/preload/counted.h"
#include "record/preload/examine.h"
#include "record/preload/large_blocks.h"
#include "record/preload/own_stack.h"
#include "record/preload/returns.h"
#include "record/preload/site.h"

#define ZEROTAX_EXPORT extern "C" [[gnu::visibility("default")]]

namespace zerotax::record {
namespace {

/// Counts a mostly populated large block of calloc if memset wrote less than half of it. In that case, the allocator
/// zeroed the populated bytes by other stores, or knew that they were zero.
void look_for_unseen_stores(ThreadState& thread, const void* block, std::size_t bytes) {
  const std::uint64_t zeroed = thread.eventful ? thread.call.zeroed_bytes : 0;
  if (block == nullptr || process == nullptr || zeroed >= bytes / 2) return;
  const TimedOwnWork own;
  std::uint64_t populated = 0;
  if (populated_bytes(block, bytes, populated) && populated > zeroed + bytes / 2) {
    ++thread.block->unseen_calls;
    thread.block->unseen_bytes += populated - zeroed;
  }
}

[[gnu::noinline]] void* large_calloc(ThreadState& thread, std::size_t count, std::size_t size, std::size_t bytes) {
  begin_call(thread);
  ThreadBlock* const armed = thread.armed;
  void* block = call(thread, armed, Inside::kCalloc, class_of(bytes), [&] { return real.calloc(count, size); });
  look_for_unseen_stores(thread, block, bytes);
  begin_events(thread);
  Site* const site = note_site(SiteKind::kCalloc, bytes, thread.call);
  if (thread.small.bytes != 0) note_sample(SiteKind::kCalloc, thread.small);
  note_block(thread, SiteKind::kCalloc, site, block, bytes);
  return block;
}

/// Attributes to one site the bytes that realloc zeroed, and the bytes that it returned to the kernel. Returns nullptr
/// if there are too few such bytes.
Site* note_realloc(ThreadState& thread, std::size_t bytes, const LiveBlock* ended) {
  const std::uint64_t returned = thread.call.returned_bytes();
  if (ended != nullptr) thread.block->filled[class_of(ended->bytes)].returned_bytes += returned;
  if (thread.call.zeroed_bytes == 0 && returned < kLargeBytes) return nullptr;
  return note_site(SiteKind::kRealloc, bytes, thread.call);
}

}  // namespace
}  // namespace zerotax::record

using namespace zerotax::record;

ZEROTAX_EXPORT void* malloc(std::size_t bytes) {
  return counted(called_from(), bytes, [=] { return real.malloc(bytes); });
}

ZEROTAX_EXPORT void* calloc(std::size_t count, std::size_t size) {
  ThreadState& thread = state;
  if (!ready(thread)) [[unlikely]] {
    return apart(
        thread, called_from(), [=] { return ::calloc(count, size); }, [=] { return real.calloc(count, size); });
  }
  ThreadBlock* const armed = thread.armed;
  std::size_t bytes = 0;
  // A request that overflows counts as a call, too.
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = 0;
  const std::uint32_t size_class = count_call(*armed, kCalloc, bytes);
  if (bytes >= kLargeBytes) return large_calloc(thread, count, size, bytes);
  void* block = small_call(thread, armed, {Inside::kCalloc, size_class}, SiteKind::kCalloc, bytes,
                           [&] { return real.calloc(count, size); });
  if (thread.small.bytes != 0) [[unlikely]]
    note_sample(SiteKind::kCalloc, thread.small);
  return block;
}

namespace {

inline void* reallocated(CalledFrom from, void* old, std::size_t bytes) {
  ThreadState& thread = state;
  if (!ready(thread)) [[unlikely]] {
    return apart(
        thread, from, [=] { return reallocated(from, old, bytes); }, [=] { return real.realloc(old, bytes); });
  }
  ThreadBlock* const armed = thread.armed;
  begin_call(thread);
  LiveBlock ended;
  const bool known = old != nullptr && may_be_live(old) && end_block(old, ended);
  const auto grow = [&] { return real.realloc(old, bytes); };
  const Call what{Inside::kRealloc, count_call(*armed, kRealloc, bytes)};
  void* block = bytes < kLargeBytes ? small_call(thread, armed, what, SiteKind::kRealloc, bytes, grow)
                                    : call(thread, armed, what.inside, what.size_class, grow);
  remember(thread, block, bytes);
  // If realloc failed, the old block still exists.
  if (known && block == nullptr && bytes != 0) restore_block(ended);
  Site* site = nullptr;
  if (thread.eventful) [[unlikely]]
    site = note_realloc(thread, bytes, known ? &ended : nullptr);
  if (bytes >= kLargeBytes) note_block(thread, SiteKind::kRealloc, site, block, bytes);
  return block;
}

}  // namespace

ZEROTAX_EXPORT void* realloc(void* old, std::size_t bytes) { return reallocated(called_from(), old, bytes); }

ZEROTAX_EXPORT void* reallocarray(void* old, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) return reallocated(called_from(), old, bytes);
  errno = ENOMEM;
  return nullptr;
}

ZEROTAX_EXPORT void free(void* block) noexcept {
  freed(called_from(), block, [=] { real.free(block); });
}

ZEROTAX_EXPORT int malloc_trim(std::size_t pad) noexcept {
  zerotax::record::resolve_real();
  if (real.malloc_trim == nullptr) return 0;
  ThreadState& thread = state;
  CallFigures figures{};
  CallFigures* const outer = thread.trim;
  thread.trim = &figures;
  const int trimmed = real.malloc_trim(pad);
  thread.trim = outer;
  const std::uint64_t bytes = figures.returned_bytes();
  if (bytes == 0 || thread.block == nullptr) return trimmed;
  thread.block->trimmed_bytes += bytes;
  on_own_stack([&] {
    const TimedOwnWork own;
    note_site(SiteKind::kPurge, 0, figures);
  });
  return trimmed;
}

ZEROTAX_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  int status = 0;
  counted_aligned(called_from(), alignment, bytes, [&] {
    status = real.posix_memalign(block, alignment, bytes);
    return status == 0 ? *block : nullptr;
  });
  return status;
}

ZEROTAX_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return counted_aligned(called_from(), alignment, bytes, [=] { return real.aligned_alloc(alignment, bytes); });
}

ZEROTAX_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return counted_aligned(called_from(), alignment, bytes, [=] { return real.memalign(alignment, bytes); });
}

ZEROTAX_EXPORT void* valloc(std::size_t bytes) noexcept {
  return counted_aligned(called_from(), zerotax::page_bytes(), bytes, [=] { return real.valloc(bytes); });
}

ZEROTAX_EXPORT void* pvalloc(std::size_t bytes) noexcept {
  return counted_aligned(called_from(), zerotax::page_bytes(), bytes, [=] { return real.pvalloc(bytes); });
}
