// Lies that show only while another thread is running.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"
#include "lies.h"

// One of 300 calls has no effect. No other promise makes that many calls.
static long sometimes_nothing(const struct call* c) {
  static unsigned count;
  return is_madvise(c, MADV_DONTNEED) && ++count % 300 == 0 ? 0 : truth(c);
}

static void* discard_all(void* data) {
  for (;;) syscall(SYS_madvise, data, 64 * page, MADV_DONTNEED);
  return NULL;
}

// Acts as if the fault of one thread dropped the page that another thread has just populated.
static long fault_loses(const struct call* c) {
  static bool running;
  const long result = truth(c);
  if (is_madvise(c, MADV_DONTNEED) && bytes_of(c) == 64 * page && !running) {
    pthread_t thread;
    running = pthread_create(&thread, NULL, discard_all, address_of(c)) == 0;
  }
  return result;
}

// A page that was freed comes back with its old content.
static long free_restores(const struct call* c) {
  static uint64_t old;
  volatile uint64_t* word = (volatile uint64_t*)c->a[0];
  if (is_madvise(c, kFree) && bytes_of(c) == page) old = *word;
  const long result = truth(c);
  if (is_madvise(c, kPageOut) && bytes_of(c) == page && old != 0) {
    for (int i = 0; i < 2000; ++i) *word = old;
  }
  return result;
}

const struct lie kRaceLies[] = {
    {"dontneed-sometimes", "one MADV_DONTNEED of 300 has no effect", "dontneed-race", sometimes_nothing},
    {"fault-loses", "a fault loses what another thread has just written", "fault-race", fault_loses},
    {"free-restores", "a page that was freed comes back as it was", "free-race", free_restores},
    {0, 0, 0, 0}};
