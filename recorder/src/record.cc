#include <cerrno>
#include <cstdlib>

#include "control.h"
#include "lock.h"
#include "metadata.h"
#include "process.h"
#include "ring.h"
#include "thread.h"
#include "trace.h"
#include "types.h"

namespace zerotax::recorder {
namespace {

/// Restores errno at the end, because a handler must not change the errno of the interrupted code.
class KeepErrno {
 public:
  KeepErrno() : before_(errno) {}
  ~KeepErrno() { errno = before_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int before_;
};

/// Returns the type's word, registering the type if needed. Returns 0 on failure.
std::uint64_t word_of(zerotax_type& type) {
  if (const std::uint64_t word = __atomic_load_n(&type.word, __ATOMIC_ACQUIRE); word != 0) return word;
  const Locked lock(process.registry_lock);
  return register_type(type);
}

/// Whether the settings exclude this type. A type that has no number yet counts as included.
bool is_left_out(const zerotax_type& type) {
  if (!process.looks.load(std::memory_order_relaxed)) return false;
  const std::uint64_t word = __atomic_load_n(&type.word, __ATOMIC_ACQUIRE);
  return word != 0 && is_skipped(word >> kTickBits);
}

/// Takes a lane in which no record is interrupted, and makes it busy. Returns kLanes if both are busy.
unsigned enter_lane(Ring& ring) {
  for (unsigned i = 0; i < kLanes; ++i) {
    if (__atomic_load_n(&ring.lanes[i].busy, __ATOMIC_RELAXED) != 0) continue;
    __atomic_store_n(&ring.lanes[i].busy, 1, __ATOMIC_RELAXED);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return i;
  }
  return kLanes;
}

void leave_lane(Ring& ring, unsigned lane) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&ring.lanes[lane].busy, 0, __ATOMIC_RELAXED);
}

void record(zerotax_type& type, const void* bytes, std::size_t size, const std::uint64_t* ticks) {
  become_child();
  if (is_left_out(type)) return;
  // The folder must exist first, because the types are written into it.
  Ring* ring = is_marked() ? attach() : nullptr;
  const std::uint64_t word = ring == nullptr ? 0 : word_of(type);
  if (word == 0) {
    process.lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (is_left_out(type)) return;
  const unsigned lane = enter_lane(*ring);
  if (lane == kLanes) {
    shared(ring->file->lanes[kLanes - 1].discarded).fetch_add(1);
    return;
  }
  put_record(*ring, lane, word, bytes, size, ticks);
  leave_lane(*ring, lane);
  if (process.ends_by_event.load(std::memory_order_relaxed) && is_trigger(word >> kTickBits)) end_by_event();
}

/// The constructor is in this file because every program that records links it, even from the static library.
[[gnu::constructor]] void begin() {
  const char* directory = std::getenv("ZEROTAX_TRACE_DIR");
  if (directory != nullptr && *directory != '\0') zerotax_trace_start(nullptr);
  begin_control();
}

/// Runs at exit, or before the code is unloaded if a closed library contains this code.
[[gnu::destructor]] void end() {
  end_control();
  zerotax_trace_stop();
  unwatch_threads();
}

}  // namespace
}  // namespace zerotax::recorder

extern "C" void zerotax_record_slow(zerotax_type* type, const void* bytes, std::size_t size) {
  using namespace zerotax::recorder;
  if (!process.on.load(std::memory_order_acquire)) return;
  const KeepErrno keep;
  record(*type, bytes, size, nullptr);
}

extern "C" void zerotax_record_at(zerotax_type* type, const void* bytes, std::size_t size, std::uint64_t monotonic_ns) {
  using namespace zerotax::recorder;
  if (!process.on.load(std::memory_order_acquire)) return;
  const KeepErrno keep;
  if (counts_tsc(process.clock)) {
    process.lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  record(*type, bytes, size, &monotonic_ns);
}
