#define _GNU_SOURCE
#include "replay/process/replay_calls.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kSpins = 200 };

atomic_uint threads_running;

static atomic_uint turn;
static atomic_uint waiting;

static void futex(atomic_uint* word, int operation, unsigned value, unsigned bits) {
  syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, bits);
}

/* Leaves more of the processor core to another thread on the same core. */
static void pause_processor(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("yield");
#endif
}

/* Threads sleep under different bits of a 32-bit set, so that each turn wakes few threads. */
static unsigned bit_of(unsigned number) { return 1U << number % 32; }

void wait_for_turn(uint64_t number) {
  const unsigned wanted = (unsigned)number;
  for (int i = 0; i < kSpins; ++i) {
    if (turn == wanted) return;
    pause_processor();
  }
  ++waiting;
  for (unsigned now = turn; now != wanted; now = turn) futex(&turn, FUTEX_WAIT_BITSET, now, bit_of(wanted));
  --waiting;
}

void pass_turn(void) {
  const unsigned now = ++turn;
  if (waiting != 0) futex(&turn, FUTEX_WAKE_BITSET, INT_MAX, bit_of(now));
}

void thread_is_done(void) {
  if (--threads_running == 0) futex(&threads_running, FUTEX_WAKE, INT_MAX, 0);
}

void wait_for_threads(void) {
  for (unsigned running = threads_running; running != 0; running = threads_running) {
    futex(&threads_running, FUTEX_WAIT, running, 0);
  }
}

void forget_threads(void) {
  threads_running = 0;
  waiting = 0;
  turn = 0;
}
