// The functions that a recorded program calls in place of the allocator's. The way of small requests is short: no lock,
// no clock, no system call, no allocation.
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "os/clock.h"
#include "record/preload/examine.h"
#include "record/preload/process.h"
#include "record/preload/real.h"
#include "record/preload/site.h"
#include "record/preload/state.h"

#define ZEROTAX_EXPORT extern "C" [[gnu::visibility("default")]]

namespace zerotax::record {
namespace {

/// Counts a call; returns its class of sizes.
inline std::uint32_t count_call(ThreadBlock& block, CallKind kind, std::size_t bytes) {
  const std::uint32_t size_class = class_of(bytes);
  CallRow& row = block.calls[kind][size_class];
  ++row.calls;
  row.bytes += bytes;
  return size_class;
}

/// What the program gets now is what a memset of zeros right after would be over.
inline void remember(ThreadState& thread, const void* block, std::size_t bytes) {
  thread.last_begin = reinterpret_cast<std::uintptr_t>(block);
  thread.last_bytes = bytes;
}

inline bool may_count(ThreadState& thread) { return ready(thread) || prepare(thread); }

/// Calls the allocator: what it stores meanwhile is its own.
template <typename Allocate>
inline void* call(ThreadState& thread, ThreadBlock* armed, Inside inside, std::uint32_t size_class, Allocate allocate) {
  thread.now = {inside, size_class};
  thread.armed = nullptr;
  void* block = allocate();
  thread.armed = armed;
  return block;
}

/// A block of the allocator by `allocate`, counted as malloc.
template <typename Allocate>
inline void* counted(std::size_t bytes, Allocate allocate) {
  ThreadState& thread = state;
  if (!may_count(thread)) [[unlikely]]
    return allocate();
  ThreadBlock* const armed = thread.armed;
  void* block = call(thread, armed, Inside::kOther, count_call(*armed, kMalloc, bytes), allocate);
  remember(thread, block, bytes);
  return block;
}

/// A large block that calloc gave without a memset that we saw: what of it is populated was zeroed by stores of its
/// own, or the allocator knew that it was zero.
void look_for_unseen_stores(ThreadState& thread, const void* block, std::size_t bytes) {
  if (block == nullptr || process == nullptr || thread.call.zeroed_bytes >= bytes / 2) return;
  const OwnWork own;
  const std::int64_t began = monotonic_ns();
  std::uint64_t populated = 0;
  if (populated_bytes(block, bytes, populated) && populated > thread.call.zeroed_bytes + bytes / 2) {
    ++thread.block->unseen_calls;
    thread.block->unseen_bytes += populated - thread.call.zeroed_bytes;
  }
  thread.block->own_ns += static_cast<std::uint64_t>(monotonic_ns() - began);
}

[[gnu::noinline]] void* large_calloc(ThreadState& thread, std::size_t count, std::size_t size, std::size_t bytes) {
  thread.call = {};
  ThreadBlock* const armed = thread.armed;
  void* block = call(thread, armed, Inside::kCalloc, class_of(bytes), [&] { return real.calloc(count, size); });
  look_for_unseen_stores(thread, block, bytes);
  note_site(SiteKind::kCalloc, bytes, thread.call);
  if (thread.sampled_bytes != 0) note_sample(SiteKind::kCalloc);
  return block;
}

}  // namespace
}  // namespace zerotax::record

using namespace zerotax::record;

ZEROTAX_EXPORT void* malloc(std::size_t bytes) {
  return counted(bytes, [&] { return real.malloc(bytes); });
}

ZEROTAX_EXPORT void* calloc(std::size_t count, std::size_t size) {
  ThreadState& thread = state;
  if (!may_count(thread)) [[unlikely]]
    return real.calloc(count, size);
  ThreadBlock* const armed = thread.armed;
  std::size_t bytes = 0;
  // What cannot be had was called for all the same.
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = 0;
  const std::uint32_t size_class = count_call(*armed, kCalloc, bytes);
  if (bytes >= kLargeBytes) return large_calloc(thread, count, size, bytes);
  void* block = call(thread, armed, Inside::kCalloc, size_class, [&] { return real.calloc(count, size); });
  if (thread.sampled_bytes != 0) [[unlikely]]
    note_sample(SiteKind::kCalloc);
  return block;
}

ZEROTAX_EXPORT void* realloc(void* old, std::size_t bytes) {
  ThreadState& thread = state;
  if (!may_count(thread)) [[unlikely]]
    return real.realloc(old, bytes);
  ThreadBlock* const armed = thread.armed;
  thread.call.zeroed_bytes = 0;
  void* block = call(thread, armed, Inside::kOther, count_call(*armed, kRealloc, bytes),
                     [&] { return real.realloc(old, bytes); });
  remember(thread, block, bytes);
  if (thread.call.zeroed_bytes != 0) [[unlikely]]
    note_site(SiteKind::kRealloc, bytes, thread.call);
  return block;
}

ZEROTAX_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  int status = 0;
  counted(bytes, [&] {
    status = real.posix_memalign(block, alignment, bytes);
    return status == 0 ? *block : nullptr;
  });
  return status;
}

ZEROTAX_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return counted(bytes, [&] { return real.aligned_alloc(alignment, bytes); });
}

ZEROTAX_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return counted(bytes, [&] { return real.memalign(alignment, bytes); });
}
