#include "largecache/adaptive/decay_thread.h"

#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_sigmask is POSIX's
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "largecache/adaptive/pressure.h"
#include "largecache/small.h"

namespace zerotax::largecache {
namespace {

constexpr useconds_t kTickUs = 500'000;
// Size of the stack. The thread's frames are small, but the program's thread-local variables are on the same stack.
constexpr std::size_t kStackBytes = std::size_t{256} << 10;

/// Detects whether the program used less than a tenth of a processor since the last call.
class Idleness {
 public:
  bool is_idle() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    const std::int64_t cpu_us = now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
    const bool idle = cpu_us - last_cpu_us_ < kTickUs / 10;
    last_cpu_us_ = cpu_us;
    return idle;
  }

 private:
  std::int64_t last_cpu_us_ = 0;
};

// Returns cached blocks to the kernel by age. Also returns the C library's free heap, but only once the program has
// been idle for a second: free memory in the heap has no age, and a working program would need it again.
void* run(void* argument) {
  auto& heap = *static_cast<LargeHeap*>(argument);
  constexpr unsigned kIdleTicks = 2;
  const bool keeps_small = heap.policy().keeps_small_memory;
  Pressure pressure;
  Idleness idleness;
  unsigned idle_ticks = 0;
  bool is_idle = false;
  do {
    usleep(kTickUs);
    const bool is_high = pressure.is_high();
    if (is_high) heap.decay(true);
    idle_ticks = idleness.is_idle() ? idle_ticks + 1 : 0;
    is_idle = idle_ticks >= kIdleTicks;
    if (keeps_small && (is_high || idle_ticks == kIdleTicks)) small::trim_heap();
  } while (heap.decay(false, keeps_small && !is_idle));
  return nullptr;
}

}  // namespace

bool start_decay_thread(LargeHeap& heap) {
  const int saved_errno = errno;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  // The thread inherits a mask that blocks all signals, so that the program's handlers run on the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const bool started = pthread_create(&thread, &attributes, &run, &heap) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) pthread_setname_np(thread, "largecache");
  pthread_attr_destroy(&attributes);
  errno = saved_errno;
  return started;
}

}  // namespace zerotax::largecache
