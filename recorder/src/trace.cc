#include "trace.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "drain.h"
#include "lock.h"
#include "metadata.h"
#include "process.h"
#include "ring.h"
#include "say.h"
#include "thread.h"
#include "types.h"

namespace zerotax::recorder {
namespace {

std::uint64_t rings_before = 0;  ///< value of process.next_ring at the start of the trace

constexpr unsigned kMostWatchers = 8;
void (*watchers[kMostWatchers])(int);
std::atomic<unsigned> watcher_count{0};

void tell_watchers(int on) {
  for (unsigned i = 0; i < watcher_count.load(std::memory_order_acquire); ++i) watchers[i](on);
}

/// Returns the generation of the trace's buffers, even after an event has ended the trace.
std::uint64_t generation_of_trace() {
  const std::uint64_t triggered = process.triggered.load();
  return triggered != 0 ? triggered - 1 : process.generation.load();
}

void finish(std::uint64_t generation);

int say_failure(int failure) {
  say("nothing is recorded: %s", std::strerror(failure));
  return failure;
}

int start(const zerotax_trace_options* options) {
  if (process.on.load()) return EALREADY;
  if (const std::uint64_t triggered = process.triggered.exchange(0); triggered != 0) finish(triggered - 1);
  static Settings settings;
  settings = Settings();
  int failure = read_settings(options, settings);
  if (failure != 0) return failure;
  {
    const Locked lock(process.registry_lock);
    take_over(settings, process.settings);
  }
  forget_troubles();
  start_clock(process.clock, settings.monotonic);
  if (failure = mark_process(); failure == 0) failure = watch_threads();
  if (failure != 0) return say_failure(failure);
  {
    const Locked lock(process.registry_lock);
    process.folder[0] = '\0';
    failure = make_folder();
    const bool known_trigger = judge_types();
    process.looks.store(settings.events[0] != '\0' || known_trigger);
    process.ends_by_event.store(settings.until[0] != '\0');
  }
  if (failure != 0) return failure;
  process.lost.store(0);
  process.lost_of_ended.store(0);
  process.untold.store(0);
  rings_before = process.next_ring.load();
  process.generation.fetch_add(1);
  process.on.store(true);
  if (settings.drain != ZEROTAX_TRACE_DRAIN_THREAD) return 0;
  if (failure = start_drain(); failure != 0) {
    say("no thread can be started to write the trace: %s; each recorded thread writes its own records",
        std::strerror(failure));
    set_drain(process.settings, ZEROTAX_TRACE_DRAIN_SELF);
  }
  return 0;
}

/// Sends the next record of every thread to the slow path (see set_limit).
void stop_lanes(std::uint64_t generation) {
  const Locked lock(process.drain_lock);
  for (Ring* ring = process.rings.load(); ring != nullptr; ring = ring->next) {
    if (ring->file == nullptr || ring->generation != generation) continue;
    for (unsigned i = 0; i < kLanes; ++i) __atomic_store_n(&ring->lanes[i].limit, nullptr, __ATOMIC_SEQ_CST);
  }
}

/// Writes the records that an ended trace left in the buffers.
void finish(std::uint64_t generation) {
  stop_drain();
  // Any thread that was making a buffer when the trace was stopped has finished once the lock is taken.
  { const Locked lock(process.registry_lock); }
  finish_rings(generation);
  const Locked lock(process.registry_lock);
  if (process.folder[0] == '\0') return;
  calibrate(process.clock);
  update_metadata();
  // A program that recorded nothing leaves no folder, because many programs only run other programs that record.
  if (process.next_ring.load() == rings_before && process.lost.load() == 0) remove_folder();
}

void stop() {
  if (process.on.load()) tell_watchers(0);
  if (process.on.exchange(false)) {
    const std::uint64_t generation = process.generation.fetch_add(1);
    stop_lanes(generation);
    finish(generation);
  } else if (const std::uint64_t triggered = process.triggered.exchange(0); triggered != 0) {
    finish(triggered - 1);
  }
}

}  // namespace

void end_by_event() {
  if (!process.on.exchange(false)) return;
  const std::uint64_t generation = process.generation.fetch_add(1);
  stop_lanes(generation);
  process.triggered.store(generation + 1);
}

}  // namespace zerotax::recorder

extern "C" {

int zerotax_trace_start(const zerotax_trace_options* options) {
  using namespace zerotax::recorder;
  become_child();
  ::pthread_mutex_lock(&process.start_stop_lock);
  const int failure = start(options);
  if (failure == 0) tell_watchers(1);
  ::pthread_mutex_unlock(&process.start_stop_lock);
  return failure;
}

void zerotax_trace_stop(void) {
  using namespace zerotax::recorder;
  // A child that has not recorded since the fork has no trace to stop. A thread that exists only in the parent may hold
  // the lock.
  if (!is_marked()) return;
  ::pthread_mutex_lock(&process.start_stop_lock);
  stop();
  ::pthread_mutex_unlock(&process.start_stop_lock);
}

int zerotax_trace_watch(void (*changed)(int on)) {
  using namespace zerotax::recorder;
  const Locked lock(process.registry_lock);
  const unsigned count = watcher_count.load();
  if (count == kMostWatchers) return ENOSPC;
  watchers[count] = changed;
  watcher_count.store(count + 1, std::memory_order_release);
  return 0;
}

void zerotax_trace_flush(void) {
  using namespace zerotax::recorder;
  if (!process.on.load() || !is_marked()) return;
  if (Ring* ring = own_ring(); ring != nullptr && ring->generation == process.generation.load()) {
    const SignalBlock block;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      // If this code runs in a signal handler that interrupted a record, that record's packet stays open.
      if (__atomic_load_n(&ring->lanes[lane].busy, __ATOMIC_RELAXED) == 0) complete_packet(*ring, lane);
    }
  }
  drain_all();
}

int zerotax_trace_is_on(void) { return static_cast<int>(zerotax::recorder::process.on.load()); }

std::uint64_t zerotax_trace_lost(void) {
  using namespace zerotax::recorder;
  if (!is_marked()) return 0;
  const Locked lock(process.drain_lock);
  std::uint64_t lost = process.lost.load() + process.lost_of_ended.load();
  for (Ring* ring = process.rings.load(); ring != nullptr; ring = ring->next) {
    if (ring->file == nullptr || ring->generation != generation_of_trace()) continue;
    for (LaneFile& lane : ring->file->lanes) lost += shared(lane.discarded).load();
  }
  return lost;
}

}  // extern "C"
