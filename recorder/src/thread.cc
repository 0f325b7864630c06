#include "thread.h"

#include <pthread.h>

#include "drain.h"
#include "lock.h"
#include "process.h"

namespace {

/// The lane of threads without a buffer. The lane is busy, so that every record takes the slow path. Never written.
zerotax_lane no_lane = {1, nullptr, nullptr, nullptr};

}  // namespace

__thread zerotax_lane* zerotax_lane_current = &no_lane;

namespace zerotax::recorder {
namespace {

__thread Ring* ring_of_thread __attribute__((tls_model("initial-exec"))) = nullptr;
/// 1 + the generation in which no buffer could be made; keeps later records from trying again
__thread std::uint64_t failed_in __attribute__((tls_model("initial-exec"))) = 0;
pthread_key_t key;
bool key_made = false;

void detach() {
  Ring* ring = ring_of_thread;
  zerotax_lane_current = &no_lane;
  ring_of_thread = nullptr;
  if (ring != nullptr) leave_ring(*ring);
}

/// Called when a thread ends. If destructors that run later record, a new buffer is made, and this function is called
/// again.
void thread_ends(void* /*ring*/) {
  if (is_marked()) detach();
}

}  // namespace

Ring* own_ring() { return ring_of_thread; }

Ring* attach() {
  Ring* ring = ring_of_thread;
  if (ring != nullptr && ring->generation == process.generation.load()) return ring;
  if (ring != nullptr) detach();
  if (failed_in == process.generation.load() + 1) return nullptr;
  const Locked lock(process.registry_lock);
  std::uint64_t generation = 0;
  do {  // until `generation` is the same before and after the check of `on`, and thus belongs to a trace that was on
    generation = process.generation.load();
    if (!process.on.load()) return nullptr;
  } while (generation != process.generation.load());
  ring = make_folder() == 0 ? take_ring(generation) : nullptr;
  if (ring == nullptr) {
    failed_in = generation + 1;
    return nullptr;
  }
  ring_of_thread = ring;
  zerotax_lane_current = &ring->lanes[0];
  ::pthread_setspecific(key, ring);
  return ring;
}

int watch_threads() {
  if (key_made) return 0;
  const int failure = ::pthread_key_create(&key, thread_ends);
  key_made = failure == 0;
  return failure;
}

void unwatch_threads() {
  if (key_made) ::pthread_key_delete(key);
  key_made = false;
}

}  // namespace zerotax::recorder
