// memset and its siblings, as preloaded functions. A store of zeros counts for the allocator if a function of the
// allocator is running on this thread. Otherwise, the store counts for the program: as "by hand" if it clears the block
// that the program has just got, else as "cleared".
#include <cstring>
#include <cwchar>
#include <iterator>
#include <optional>

#include "os/clock.h"
#include "os/faults.h"
#include "os/got_hook.h"
#include "record/preload/examine.h"
#include "record/preload/jumps.h"
#include "record/preload/nesting.h"
#include "record/preload/process.h"
#include "record/preload/real.h"
#include "record/preload/redirect.h"
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

[[gnu::noinline]] void sample(ThreadState& thread, Samples& samples, const void* target, std::size_t bytes) {
  const TimedOwnWork own;
  samples.pending_bytes += static_cast<std::uint64_t>(samples.began - samples.until);
  if (samples.every < kLastSampleBytes) samples.every *= 2;
  // The interval varies from three quarters to five quarters of its average, so that it does not coincide with a loop
  // of the program.
  const auto most = static_cast<std::uint64_t>(samples.every) / 2;
  samples.until =
      samples.every - static_cast<std::int64_t>(most / 2) + static_cast<std::int64_t>(random_of(thread) % most);
  samples.began = samples.until;
  samples.bytes = bytes;
  samples.redundant_bytes = redundant_bytes_by_contents(target, bytes);
  ++thread.block->sampled_stores;
  thread.block->sampled_bytes += bytes;
  thread.block->sampled_redundant_bytes += samples.redundant_bytes;
}

/// Counts a small store. Some stores are examined before they are done.
inline void count_small_and_sample(ThreadState& thread, Samples& samples, ZeroRow& row, const void* target,
                                   std::size_t bytes) {
  count_small(row, bytes);
  samples.until -= static_cast<std::int64_t>(bytes);
  if (samples.until < 0) [[unlikely]]
    sample(thread, samples, target, bytes);
}

/// Examines the pages; then does the store between two readings of the clock and of the thread's faults.
[[gnu::noinline]] void store_large(ThreadState& thread, ZeroKind kind, std::uint32_t size_class, void* target,
                                   std::size_t bytes, Store store, bool examine = true) {
  const OwnWork own;
  ThreadBlock& block = *thread.block;
  const std::int64_t began = monotonic_ns();
  const std::int64_t began_cpu = thread_cpu_ns();
  begin_events(thread);
  std::uint64_t redundant = 0;
  const bool examined = examine && process != nullptr && redundant_bytes(target, bytes, redundant);
  const std::int64_t faults = thread_minor_faults();
  const std::int64_t before_cpu = thread_cpu_ns();
  const std::int64_t before = monotonic_ns();
  store(target, bytes);
  const std::int64_t after = monotonic_ns();
  const std::int64_t after_cpu = thread_cpu_ns();
  // The store is counted after it is done, because a program's handler of a fault may leave the store through
  // siglongjmp.
  ZeroRow& row = block.zeroed[kind][size_class];
  ++row.stores;
  row.bytes += bytes;
  if (examined) {
    row.examined_bytes += bytes;
    row.redundant_bytes += redundant;
    thread.call.examined_bytes += bytes;
    thread.call.redundant_bytes += redundant;
  }
  const auto taken = static_cast<std::uint64_t>(thread_minor_faults() - faults);
  const auto ns = static_cast<std::uint64_t>(after - before);
  block.cost[kind].bytes += bytes;
  block.cost[kind].ns += ns;
  block.cost[kind].faults += taken;
  const auto cpu_ns = static_cast<std::uint64_t>(after_cpu - before_cpu);
  block.cost[kind].cpu_ns += cpu_ns;
  if (taken == 0) block.cost[kind].faultless_cpu_ns += cpu_ns;
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

/// Does a store of zeros inside a call to the allocator.
[[gnu::noinline]] void store_inside(ThreadState& thread, void* target, std::size_t bytes, Store store) {
  const ZeroKind kind = kind_inside(thread.now.inside);
  const std::uint32_t size_class = kind == kInFree ? class_of(bytes) : thread.now.size_class;
  if (bytes >= kLargeBytes) {
    store_large(thread, kind, size_class, target, bytes, store);
    return;
  }
  ZeroRow& row = thread.block->zeroed[kind][size_class];
  if (kind == kInCalloc) {
    count_small_and_sample(thread, thread.small, row, target, bytes);
  } else {
    count_small(row, bytes);
  }
  store(target, bytes);
}

/// Counts a store at its site if the store's contents were not examined.
void note_unexamined(ThreadState& thread, std::size_t bytes) {
  const std::uint32_t weight = site_weight(thread);
  if (weight == 1) {
    if (Site* const site = note_site(SiteKind::kCleared, bytes, thread.call)) site->unexamined_bytes += bytes;
  } else if (weight > 1) {
    Site* const site = note_sampled_calls(SiteKind::kCleared, weight);
    if (site != nullptr) site->sampled_clears_bytes += weight * bytes;
  }
}

/// Does a large store of the program over memory other than a new block. A program may clear the same memory thousands
/// of times a second, and reading the memory takes longer than clearing it. A thread's first 64 such stores are
/// examined. Later stores are examined at random, for at most about a 64th of the time.
[[gnu::noinline]] void clear_large(ThreadState& thread, void* target, std::size_t bytes, Store store) {
  constexpr std::uint32_t kAllOf = 64;
  constexpr std::uint64_t kShare = 64;
  Samples& samples = thread.large_cleared;
  const bool examine = thread.large_clears < kAllOf || monotonic_ns() >= samples.until;
  const std::uint64_t own = thread.block->own_ns;
  begin_call(thread);
  store_large(thread, kCleared, class_of(bytes), target, bytes, store, examine);
  if (!examine) return note_unexamined(thread, bytes);
  note_site(SiteKind::kCleared, bytes, thread.call);
  ++thread.large_clears;
  const std::uint64_t took = thread.block->own_ns - own;
  samples.until = monotonic_ns() + static_cast<std::int64_t>(took * (kShare / 2 + random_of(thread) % kShare));
}

/// Does a store of zeros by the program, either over its newest block (`by_hand`) or over any other memory.
inline void store_by_program(ThreadState& thread, bool by_hand, void* target, std::size_t bytes, Store store) {
  const ZeroKind kind = by_hand ? kByHand : kCleared;
  const SiteKind site = by_hand ? SiteKind::kByHand : SiteKind::kCleared;
  ZeroRow& row = thread.block->zeroed[kind][class_of(bytes)];
  if (bytes >= kLargeBytes) {
    if (is_on_signal_stack()) {
      count_small(row, bytes);
      store(target, bytes);
      return;
    }
    if (!by_hand) return clear_large(thread, target, bytes, store);
    if (thread.over_aligned) thread.block->aligned_by_hand_bytes += bytes;
    begin_call(thread);
    store_large(thread, kind, class_of(bytes), target, bytes, store);
    note_site(site, bytes, thread.call);
    return;
  }
  Samples& samples = by_hand ? thread.small : thread.cleared;
  count_small_and_sample(thread, samples, row, target, bytes);
  if (samples.bytes != 0) [[unlikely]]
    note_sample(site, samples);
  store(target, bytes);
}

/// Handles a store outside the allocator's calls. Returns whether the store has been done.
inline bool noticed_outside(ThreadState& thread, void* target, std::size_t bytes, Store store, const void* caller) {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(target) - thread.last_begin;
  const bool within = offset < thread.last_bytes && bytes <= thread.last_bytes - offset;
  // A later store over the block does not count as by hand, because it does not come right after malloc.
  thread.last_bytes = 0;
  // A caller in the allocator is the allocator's own thread, or a function of the allocator that is not recorded.
  if (is_of_allocator(caller)) return false;
  store_by_program(thread, within, target, bytes, store);
  return true;
}

bool is_inside_a_call(const ThreadState& thread) {
  return thread.armed == nullptr && thread.block != nullptr && thread.now.inside != Inside::kOwn;
}

/// Handles a store in a thread that has not called the allocator yet, in a new child of fork, or during another call.
/// Stores before the recorder's constructor, when the dynamic linker clears memory, are not counted.
[[gnu::noinline]] bool noticed_apart(ThreadState& thread, void* target, std::size_t bytes, Store store,
                                     CalledFrom from) {
  std::optional<Arrival> arrival;
  if (process != nullptr) arrival.emplace(thread, from, nesting_code);
  if (arrival && arrival->counts()) return noticed_outside(thread, target, bytes, store, from.caller);
  if (!is_inside_a_call(thread)) return false;
  store_inside(thread, target, bytes, store);
  return true;
}

/// Counts and does a store of zeros, if the store can be attributed. Returns whether the store has been done.
inline bool noticed(void* target, std::size_t bytes, Store store, CalledFrom from) {
  ThreadState& thread = state;
  if (bytes == 0) return false;
  if (ready(thread)) [[likely]]
    return noticed_outside(thread, target, bytes, store, from.caller);
  if (!is_inside_a_call(thread) || !is_just_within(thread, from, nesting_code)) [[unlikely]]
    return noticed_apart(thread, target, bytes, store, from);
  store_inside(thread, target, bytes, store);
  return true;
}

}  // namespace
}  // namespace zerotax::record

using zerotax::record::called_from;
using zerotax::record::noticed;
using zerotax::record::real;
using zerotax::record::store_zeros;

ZEROTAX_EXPORT void* memset(void* target, int value, std::size_t bytes) {
  if ((value & 0xff) == 0 && noticed(target, bytes, store_zeros, called_from())) return target;
  return real.memset(target, value, bytes);
}

ZEROTAX_EXPORT void* __memset_chk(void* target, int value, std::size_t bytes, std::size_t room) {
  if ((value & 0xff) == 0 && bytes <= room && noticed(target, bytes, store_zeros, called_from())) return target;
  return real.memset_checked(target, value, bytes, room);
}

ZEROTAX_EXPORT void bzero(void* target, std::size_t bytes) noexcept {
  if (!noticed(target, bytes, store_zeros, called_from())) real.bzero(target, bytes);
}

// The C library's explicit_bzero calls the C library's memset, which is replaced (hook_libc_stores()) and would count
// the store again. The compiler does not optimize away a call through a pointer.
ZEROTAX_EXPORT void explicit_bzero(void* target, std::size_t bytes) noexcept {
  if (!noticed(target, bytes, store_zeros, called_from())) store_zeros(target, bytes);
}

ZEROTAX_EXPORT void __explicit_bzero_chk(void* target, std::size_t bytes, std::size_t room) {
  if (bytes > room) return real.explicit_bzero_checked(target, bytes, room);
  if (!noticed(target, bytes, store_zeros, called_from())) store_zeros(target, bytes);
}

ZEROTAX_EXPORT wchar_t* wmemset(wchar_t* target, wchar_t value, std::size_t count) noexcept {
  if (value == 0 && noticed(target, count * sizeof(wchar_t), store_zeros, called_from())) return target;
  return real.wmemset(target, value, count);
}

namespace zerotax::record {
namespace {

template <typename Function>
void* address(Function function) {
  return reinterpret_cast<void*>(function);
}

/// Replaces the variant of memset that the C library's own functions call by address.
bool hook_called_memset(void* function) {
  void* way = nullptr;
  Redirector redirector;
  if (!redirector.redirect(function, address(&::memset), &way)) return false;
  // If `real` has the same variant, calls through `real` must still reach the original.
  for (Real* functions : {&real, &plain_real}) {
    if (address(functions->memset) == function) functions->memset = reinterpret_cast<decltype(real.memset)>(way);
  }
  return true;
}

}  // namespace

bool hook_libc_stores() {
  const GotReplacement replacements[] = {
      {"memset", address(real.memset), address(&::memset), false},
      {"__memset_chk", address(real.memset_checked), address(&__memset_chk), false},
      {"bzero", address(real.bzero), address(&::bzero), false},
      {"explicit_bzero", address(real.explicit_bzero), address(&::explicit_bzero), false},
      {"wmemset", address(real.wmemset), address(&::wmemset), false},
  };
  const std::size_t slots = replace_got_slots(&replacements[0], std::size(replacements), address(real.memset));
  // On arm64, explicit_bzero calls only this variant. Source: glibc's sysdeps/aarch64/multiarch/memset_generic.S.
  void* const called = first_called(static_cast<const unsigned char*>(address(real.explicit_bzero)));
  return called != nullptr ? hook_called_memset(called) : slots > 0;
}

}  // namespace zerotax::record
