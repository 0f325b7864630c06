// memset and its kin, as preloaded functions: each store of zeros is put down to the allocator, if one of its functions
// is going on on this thread, or to the program, if it clears the block that it has just got.
#include "record/preload/stores.h"

#include <cstring>
#include <cwchar>
#include <iterator>

#include "os/clock.h"
#include "os/faults.h"
#include "os/got_hook.h"
#include "record/preload/examine.h"
#include "record/preload/process.h"
#include "record/preload/real.h"
#include "record/preload/site.h"
#include "record/preload/state.h"

#define ZEROTAX_EXPORT extern "C" [[gnu::visibility("default")]]

namespace zerotax::record {
namespace {

using Store = void (*)(void* target, std::size_t bytes);

void store_zeros(void* target, std::size_t bytes) { real.memset(target, 0, bytes); }

void count_small(ZeroRow& row, std::size_t bytes) {
  ++row.stores;
  row.bytes += bytes;
}

/// Counts a small store; one now and then is looked at before it is done.
void count_small_and_sample(ThreadState& thread, ZeroRow& row, const void* target, std::size_t bytes) {
  count_small(row, bytes);
  thread.pending_bytes += bytes;
  thread.until_sample -= static_cast<std::int64_t>(bytes);
  if (thread.until_sample >= 0) return;
  const TimedOwnWork own;
  if (thread.sample_every < kLastSampleBytes) thread.sample_every *= 2;
  thread.until_sample = thread.sample_every;
  thread.sampled_bytes = bytes;
  thread.sampled_redundant_bytes = redundant_bytes_by_contents(target, bytes);
  ++thread.block->sampled_stores;
  thread.block->sampled_bytes += bytes;
  thread.block->sampled_redundant_bytes += thread.sampled_redundant_bytes;
}

/// Looks at the pages, then stores between two readings of the clock and of the thread's faults.
void store_large(ThreadState& thread, ZeroKind kind, std::uint32_t size_class, void* target, std::size_t bytes,
                 Store store) {
  const OwnWork own;
  ThreadBlock& block = *thread.block;
  const std::int64_t began = monotonic_ns();
  const std::int64_t began_cpu = thread_cpu_ns();
  begin_events(thread);
  ZeroRow& row = block.zeroed[kind][size_class];
  ++row.stores;
  row.bytes += bytes;
  std::uint64_t redundant = 0;
  if (process != nullptr && redundant_bytes(target, bytes, redundant)) {
    row.examined_bytes += bytes;
    row.redundant_bytes += redundant;
    thread.call.examined_bytes += bytes;
    thread.call.redundant_bytes += redundant;
  }
  const std::int64_t faults = thread_minor_faults();
  const std::int64_t before_cpu = thread_cpu_ns();
  const std::int64_t before = monotonic_ns();
  store(target, bytes);
  const std::int64_t after = monotonic_ns();
  const std::int64_t after_cpu = thread_cpu_ns();
  const auto taken = static_cast<std::uint64_t>(thread_minor_faults() - faults);
  const auto ns = static_cast<std::uint64_t>(after - before);
  block.cost[kind].bytes += bytes;
  block.cost[kind].ns += ns;
  block.cost[kind].faults += taken;
  block.cost[kind].cpu_ns += static_cast<std::uint64_t>(after_cpu - before_cpu);
  thread.call.zeroed_bytes += bytes;
  thread.call.ns += ns;
  thread.call.faults += taken;
  block.own_ns += static_cast<std::uint64_t>(monotonic_ns() - after + before - began);
  block.own_cpu_ns += static_cast<std::uint64_t>(thread_cpu_ns() - after_cpu + before_cpu - began_cpu);
}

ZeroKind kind_inside(Inside inside) {
  if (inside == Inside::kCalloc) return kInCalloc;
  return inside == Inside::kFree ? kInFree : kInOther;
}

/// A store of zeros inside a call of the allocator.
void store_inside(ThreadState& thread, void* target, std::size_t bytes, Store store) {
  const ZeroKind kind = kind_inside(thread.now.inside);
  const std::uint32_t size_class = kind == kInFree ? class_of(bytes) : thread.now.size_class;
  if (bytes >= kLargeBytes) {
    store_large(thread, kind, size_class, target, bytes, store);
    return;
  }
  ZeroRow& row = thread.block->zeroed[kind][size_class];
  if (kind == kInCalloc) {
    count_small_and_sample(thread, row, target, bytes);
  } else {
    count_small(row, bytes);
  }
  store(target, bytes);
}

/// A store of zeros by the program over the block that it got last.
void store_by_hand(ThreadState& thread, void* target, std::size_t bytes, Store store) {
  thread.last_bytes = 0;
  if (bytes >= kLargeBytes) {
    begin_call(thread);
    store_large(thread, kByHand, class_of(bytes), target, bytes, store);
    note_site(SiteKind::kByHand, bytes, thread.call);
    return;
  }
  count_small_and_sample(thread, thread.block->zeroed[kByHand][class_of(bytes)], target, bytes);
  if (thread.sampled_bytes != 0) note_sample(SiteKind::kByHand);
  store(target, bytes);
}

/// Whether somebody wants to know of a store of zeros, which `caller` asked for; then it has been done by `store`.
inline bool noticed(void* target, std::size_t bytes, Store store, const void* caller) {
  ThreadState& thread = state;
  if (thread.armed != nullptr) {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(target) - thread.last_begin;
    const bool within = offset < thread.last_bytes && bytes <= thread.last_bytes - offset && bytes > 0;
    // A store elsewhere, or by the allocator in free: the next one over the block is not right after malloc.
    if (!within || is_of_allocator(caller) || !ready(thread)) {
      thread.last_bytes = 0;
      return false;
    }
    store_by_hand(thread, target, bytes, store);
    return true;
  }
  if (thread.now.inside == Inside::kOwn || thread.block == nullptr || bytes == 0) return false;
  store_inside(thread, target, bytes, store);
  return true;
}

}  // namespace
}  // namespace zerotax::record

using zerotax::record::noticed;
using zerotax::record::real;
using zerotax::record::store_zeros;

ZEROTAX_EXPORT void* memset(void* target, int value, std::size_t bytes) {
  if ((value & 0xff) == 0 && noticed(target, bytes, store_zeros, __builtin_return_address(0))) return target;
  return real.memset(target, value, bytes);
}

ZEROTAX_EXPORT void* __memset_chk(void* target, int value, std::size_t bytes, std::size_t room) {
  if ((value & 0xff) == 0 && bytes <= room && noticed(target, bytes, store_zeros, __builtin_return_address(0)))
    return target;
  return real.memset_checked(target, value, bytes, room);
}

ZEROTAX_EXPORT void bzero(void* target, std::size_t bytes) noexcept {
  if (!noticed(target, bytes, store_zeros, __builtin_return_address(0))) real.bzero(target, bytes);
}

// Not through store_zeros: that these are not optimised away is the library's promise, not ours.
ZEROTAX_EXPORT void explicit_bzero(void* target, std::size_t bytes) noexcept {
  if (!noticed(target, bytes, real.explicit_bzero, __builtin_return_address(0))) real.explicit_bzero(target, bytes);
}

ZEROTAX_EXPORT void __explicit_bzero_chk(void* target, std::size_t bytes, std::size_t room) {
  if (bytes > room || !noticed(target, bytes, real.explicit_bzero, __builtin_return_address(0)))
    real.explicit_bzero_checked(target, bytes, room);
}

ZEROTAX_EXPORT wchar_t* wmemset(wchar_t* target, wchar_t value, std::size_t count) noexcept {
  if (value == 0 && noticed(target, count * sizeof(wchar_t), store_zeros, __builtin_return_address(0))) return target;
  return real.wmemset(target, value, count);
}

namespace zerotax::record {

std::size_t hook_libc_stores() {
  const auto address = [](auto function) { return reinterpret_cast<void*>(function); };
  const GotReplacement replacements[] = {
      {"memset", address(real.memset), address(&::memset), false},
      {"__memset_chk", address(real.memset_checked), address(&__memset_chk), false},
      {"bzero", address(real.bzero), address(&::bzero), false},
      {"explicit_bzero", address(real.explicit_bzero), address(&::explicit_bzero), false},
      {"wmemset", address(real.wmemset), address(&::wmemset), false},
  };
  return replace_got_slots(&replacements[0], std::size(replacements), address(real.memset));
}

}  // namespace zerotax::record
