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
// Its frames are small, but the program's thread-local variables lie on the same stack.
constexpr std::size_t kStackBytes = std::size_t{256} << 10;

/// Whether the program did next to nothing since this was asked last: less than a tenth of a processor.
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

// What the C library's heap holds goes back when the program has been idle for a second: while it works, it will need
// it again. It is asked for by everything that is freed, so there is no age to go by.
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
  // It inherits the mask, so that the program's handlers run on the program's threads.
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
