// Runs threads that wait, each in its own function, and one thread that computes. Usage: waits [SECONDS]. The program
// ends after SECONDS, or at the end of standard input. When all threads have started, prints a line. At the end, prints
// how often a wait was interrupted.
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {
int ends[2];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
std::atomic<int> interruptions = 0;
}  // namespace

extern "C" {

__attribute__((noinline)) void waits_in_read() {
  char byte = 0;
  if (::read(ends[0], &byte, 1) < 0) ++interruptions;
}

// The kernel does not restart this call after the thread was stopped.
__attribute__((noinline)) void waits_in_epoll() {
  epoll_event event{};
  if (::epoll_wait(::epoll_create1(0), &event, 1, -1) < 0) ++interruptions;
}

__attribute__((noinline)) void waits_for_condition() {
  ::pthread_mutex_lock(&mutex);
  for (;;) ::pthread_cond_wait(&condition, &mutex);
}

__attribute__((noinline)) void computes() {
  volatile unsigned long sum = 0;
  for (;;) sum = sum + 1;
}

void* thread_of(void* function) {
  reinterpret_cast<void (*)()>(function)();
  return nullptr;
}

}  // extern "C"

int main(int count, char** words) {
  if (::pipe(ends) != 0) return 2;
  for (void (*function)() : {waits_in_read, waits_in_epoll, waits_for_condition, computes}) {
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, thread_of, reinterpret_cast<void*>(function));
    if (function == computes) ::pthread_setname_np(thread, "computer");
  }
  std::puts("started");
  std::fflush(stdout);
  char byte = 0;
  const timespec time{count == 2 ? std::atoi(words[1]) : 0, 0};
  if (count == 2 ? ::nanosleep(&time, nullptr) != 0 : ::read(0, &byte, 1) < 0) ++interruptions;
  std::printf("%d interruptions\n", interruptions.load());
  std::fflush(stdout);
  ::_exit(0);
}
