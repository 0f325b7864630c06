#include "largecache/decay_thread.h"

#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_sigmask is POSIX's
#include <unistd.h>

#include <cerrno>

#include "largecache/pressure.h"

namespace zerotax::largecache {
namespace {

constexpr useconds_t kTickUs = 500'000;
// Its frames are small, but the program's thread-local variables lie on the same stack.
constexpr std::size_t kStackBytes = std::size_t{256} << 10;

void* Run(void* heap) {
  Pressure pressure;
  do {
    usleep(kTickUs);
    if (pressure.IsHigh()) static_cast<LargeHeap*>(heap)->Decay(true);
  } while (static_cast<LargeHeap*>(heap)->Decay(false));
  return nullptr;
}

}  // namespace

bool StartDecayThread(LargeHeap& heap) {
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
  const bool started = pthread_create(&thread, &attributes, &Run, &heap) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) pthread_setname_np(thread, "largecache");
  pthread_attr_destroy(&attributes);
  errno = saved_errno;
  return started;
}

}  // namespace zerotax::largecache
