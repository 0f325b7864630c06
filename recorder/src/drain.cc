#include "drain.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "lock.h"
#include "metadata.h"
#include "process.h"
#include "stream.h"

namespace zerotax::recorder {
namespace {

constexpr int kDrainNice = -10;
constexpr long kIdleNs = 100'000'000;  ///< time between two checks if no thread wakes the drain

pthread_t thread;
std::atomic<std::uint32_t> sleeping{0};
std::atomic<bool> quit{false};

void drain_locked() {
  for (Ring* ring = process.rings.load(std::memory_order_acquire); ring != nullptr; ring = ring->next) {
    if (ring->file == nullptr || ring->generation != process.generation.load()) continue;
    for (unsigned lane = 0; lane < kLanes; ++lane) write_lane(*ring, lane);
  }
}

bool has_work() {
  const Locked lock(process.drain_lock);
  for (Ring* ring = process.rings.load(std::memory_order_acquire); ring != nullptr; ring = ring->next) {
    if (ring->file == nullptr || ring->generation != process.generation.load()) continue;
    for (LaneFile& lane : ring->file->lanes) {
      if (shared(lane.produced).load() - shared(lane.consumed).load() >= lane.slots / 4) return true;
    }
  }
  return false;
}

/// Updates the end of the calibration whenever the time since its beginning has doubled. A calibration is more accurate
/// the further its ends are apart.
void calibrate_now_and_then(std::uint64_t& calibrated_ns) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::uint64_t ns =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  const std::uint64_t elapsed = ns - process.clock.begin.monotonic_ns;
  if (elapsed < 2 * calibrated_ns) return;
  calibrated_ns = elapsed;
  const Locked lock(process.registry_lock);
  if (process.folder[0] == '\0') return;
  calibrate(process.clock);
  update_metadata();
}

void* run_drain(void* /*nothing*/) {
  // On a busy machine, this thread must not wait for the threads that fill the buffers. Only root can raise the
  // thread's priority. Linux applies setpriority(2) to a single thread if it is given a thread ID.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kDrainNice);
  std::uint64_t calibrated_ns = 5'000'000;
  while (!quit.load()) {
    {
      const Locked lock(process.drain_lock);
      drain_locked();
    }
    calibrate_now_and_then(calibrated_ns);
    sleeping.store(1);
    // Checks again, because a thread that filled a packet before `sleeping` was set did not wake this thread.
    if (!has_work() && !quit.load()) {
      const timespec idle{0, kIdleNs};
      ::syscall(SYS_futex, &sleeping, FUTEX_WAIT_PRIVATE, 1, &idle, nullptr, 0);
    }
    sleeping.store(0);
  }
  return nullptr;
}

}  // namespace

int start_drain() {
  quit.store(false);
  const SignalBlock block;  // the new thread inherits this mask, in which all signals are blocked
  const int failure = ::pthread_create(&thread, nullptr, run_drain, nullptr);
  if (failure != 0) return failure;
  ::pthread_setname_np(thread, "zerotax-drain");
  process.drain_runs = true;
  return 0;
}

void stop_drain() {
  if (!process.drain_runs) return;
  quit.store(true);
  wake_drain();
  ::pthread_join(thread, nullptr);
  process.drain_runs = false;
}

void wake_drain() {
  if (sleeping.load() == 0 || sleeping.exchange(0) == 0) return;
  ::syscall(SYS_futex, &sleeping, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void drain_own(Ring& ring, unsigned lane) {
  const Locked lock(process.drain_lock);
  if (ring.generation == process.generation.load()) write_lane(ring, lane);
}

void drain_all() {
  const Locked lock(process.drain_lock);
  drain_locked();
}

void leave_ring(Ring& ring) {
  const Locked lock(process.drain_lock);
  if (ring.file == nullptr) return;
  if (ring.over) {
    remove_ring(ring);
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    complete_packet(ring, lane);
    write_end(ring, lane);
    process.lost_of_ended.fetch_add(shared(ring.file->lanes[lane].discarded).load());
    shared(ring.file->lanes[lane].discarded).store(0);
  }
  if (ring.generation != process.generation.load()) {
    // The trace is being stopped, and finish_rings() has not reached this buffer yet.
    remove_ring(ring);
    return;
  }
  shared(ring.file->in_use).store(0);
  ring.taken.store(false);
}

void finish_rings(std::uint64_t generation) {
  const Locked lock(process.drain_lock);
  for (Ring* ring = process.rings.load(); ring != nullptr; ring = ring->next) {
    if (ring->file == nullptr || ring->generation != generation) continue;
    // The exchange ensures that no thread can take the buffer any more. A buffer without a thread is no longer needed.
    if (!ring->taken.exchange(true)) {
      remove_ring(*ring);
      continue;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      write_end(*ring, lane);
      process.lost_of_ended.fetch_add(shared(ring->file->lanes[lane].discarded).load());
    }
    ring->over = true;
    unlink_ring(*ring);  // the buffer's thread may still write into it, without effect
  }
}

}  // namespace zerotax::recorder
