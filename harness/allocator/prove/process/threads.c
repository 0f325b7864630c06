#define _GNU_SOURCE
#include "prove/process/threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "prove/process/execute.h"
#include "prove/process/history.h"
#include "prove/process/own.h"

enum { kSpins = 300, kMailboxes = 8, kGenerations = 4 };

/* The thread that performs operations, and the data that it shares with the thread after it. */
static atomic_uint holder;
static struct op pending;
static int has_pending;
static int is_finished;
static atomic_int is_ending[kMostThreads];
static int exists[kMostThreads] = {1};
static pthread_t handles[kMostThreads];
static const struct source* supply;

static void pass_to(unsigned thread) {
  holder = thread;
  syscall(SYS_futex, &holder, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 1U << thread);
}

static void wait_for_turn(unsigned self) {
  for (int i = 0; i < kSpins; ++i) {
    if (holder == self) return;
  }
  for (unsigned now = holder; now != self; now = holder) {
    syscall(SYS_futex, &holder, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, now, NULL, NULL, 1U << self);
  }
}

static void run_turns(unsigned self);

static void enter(unsigned thread) { head->tasks[thread] = (int32_t)syscall(SYS_gettid); }

static void* begin_thread(void* number) {
  enter((unsigned)(uintptr_t)number);
  run_turns((unsigned)(uintptr_t)number);
  return NULL;
}

static void start(uint64_t thread) {
  if (thread == 0 || thread >= kMostThreads || exists[thread]) return;
  is_ending[thread] = 0;
  exists[thread] = pthread_create(&handles[thread], NULL, begin_thread, (void*)(uintptr_t)thread) == 0;
}

static void end(uint64_t thread, unsigned self) {
  if (thread == 0 || thread >= kMostThreads || !exists[thread] || thread == self) return;
  is_ending[thread] = 1;
  pass_to((unsigned)thread);
  pthread_join(handles[thread], NULL);
  exists[thread] = 0;
  holder = self;
}

static void step(unsigned self) {
  static struct op performed; /* Only the holder uses it. */
  performed = pending;
  has_pending = 0;
  if (performed.kind == kOpStart) {
    start(performed.n);
  } else if (performed.kind == kOpEnd) {
    end(performed.n, self);
    note_event(kEventThreadEnd);
  } else {
    perform(&performed);
  }
  supply->done(&performed);
}

static void run_turns(unsigned self) {
  for (;;) {
    wait_for_turn(self);
    while (holder == self) {
      if (is_ending[self] || is_finished) return;
      if (!has_pending) is_finished = !supply->next(&pending);
      has_pending = !is_finished;
      const unsigned thread = is_finished ? 0 : pending.thread % kMostThreads;
      if (thread != self && exists[thread]) {
        pass_to(thread);
      } else if (has_pending) {
        step(self);
      }
    }
  }
}

void run_in_turns(const struct source* source) {
  enter(0);
  supply = source;
  run_turns(0);
  for (unsigned thread = 1; thread < kMostThreads; ++thread) end(thread, 0);
}

/* Blocks on their way to other threads. */
static atomic_uint mailboxes[kMailboxes];
static struct generator generators[kMostThreads];

int is_over(uint64_t calls) { return calls % 8 == 0 && head->deadline != 0 && now_ns() >= head->deadline; }

/* Exchanges the last block for another thread's block. A thread that only frees takes a block and gives none. */
static void exchange(struct generator* own) {
  if (random_below(&own->random, kAlways) >= own->profile->gives) return;
  atomic_uint* const box = &mailboxes[random_below(&own->random, kMailboxes)];
  uint32_t given = 0;
  if (own->live_count == 0 && !own->profile->only_takes) return;
  if (!own->profile->only_takes) {
    given = own->live[--own->live_count];
    own->live_bytes -= blocks[given].bytes;
  } else if (own->live_count >= own->profile->most_live) {
    return;
  }
  const uint32_t taken = atomic_exchange(box, given);
  if (taken != 0) adopt(own, taken);
}

static void* run_own(void* number) {
  struct generator* const own = &generators[(uintptr_t)number];
  struct op op;
  enter((unsigned)(uintptr_t)number);
  while (head->finding == kNoFinding && !is_over(own->calls) && next_op(own, &op) && append(&op)) {
    perform(&op);
    settle(own, &op);
    exchange(own);
  }
  return NULL;
}

/* Records that the first thread starts or ends another thread. */
static int note_thread(enum op_kind kind, unsigned thread) {
  struct op op = {.kind = (uint8_t)kind, .n = thread};
  count(&head->calls[kind], 1);
  return append(&op);
}

void run_freely(const struct profile* profile, uint64_t seed) {
  static struct profile parts[kMostThreads];
  for (unsigned thread = 0; thread < profile->threads; ++thread) {
    parts[thread] = *profile;
    parts[thread].calls = 0;
    parts[thread].only_takes = profile->has_roles && thread % 2 == 1;
    if (parts[thread].only_takes) parts[thread].most_live = 2;
    generators[thread] = new_generator(&parts[thread], seed + thread);
    generators[thread].thread = thread;
  }
  for (unsigned generation = 0; generation < kGenerations; ++generation) {
    for (unsigned thread = 0; thread < profile->threads; ++thread) {
      parts[thread].calls += profile->calls / profile->threads / kGenerations;
      parts[thread].bytes = profile->bytes / profile->threads;
    }
    for (unsigned thread = 1; thread < profile->threads; ++thread) {
      if (!note_thread(kOpStart, thread)) return;
      exists[thread] = pthread_create(&handles[thread], NULL, run_own, (void*)(uintptr_t)thread) == 0;
    }
    run_own(NULL);
    for (unsigned thread = 1; thread < profile->threads; ++thread) {
      if (exists[thread]) pthread_join(handles[thread], NULL);
      exists[thread] = 0;
      if (!note_thread(kOpEnd, thread)) return;
    }
  }
}
