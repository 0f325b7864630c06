#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "truth.h"

enum { kBlocks = 40, kRaceMs = 2000, kRounds = 1000 };

static void* blocks[kBlocks];

static void* in_thread(void* (*work)(void*)) {
  pthread_t thread;
  void* result = NULL;
  if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, &result) != 0) _exit(3);
  return result;
}

static void* free_all(void* unused) {
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  return unused;
}

static void write_all(void) {
  for (int i = 0; i < kBlocks; ++i) blocks[i] = written(kSmall);
}

/* Returns a pointer that is not null if one of several blocks is dirty. */
static void* calloc_all(void* unused) {
  (void)unused;
  bool dirty = false;
  for (int i = 0; i < kBlocks; ++i) {
    blocks[i] = calloc(1, kSmall);
    dirty |= !is_zero(blocks[i], kSmall);
  }
  return dirty ? blocks : NULL;
}

static bool remote_free_keeps_mark(void) {
  write_all();
  in_thread(free_all);
  return calloc_all(NULL) != NULL;
}

static void* write_and_free(void* unused) {
  write_all();
  return free_all(unused);
}

static bool thread_end_marks_fresh(void) {
  in_thread(write_and_free);
  return calloc_all(NULL) != NULL;
}

static bool refill_marks_batch_fresh(void) {
  write_all();
  free_all(NULL);
  return in_thread(calloc_all) != NULL;
}

static atomic_bool stopped;

static long clock_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void* free_large(void* unused) {
  while (!stopped) free(written((size_t)2 * kMiB));
  return unused;
}

static bool purges_after_unlock(void) {
  pthread_t thread;
  bool broken = false;
  if (pthread_create(&thread, NULL, free_large, NULL) != 0) _exit(3);
  for (const long end = clock_ms() + kRaceMs; !broken && clock_ms() < end;) {
    char* block = written((size_t)2 * kMiB);
    usleep(100);
    broken = !holds(block, (size_t)2 * kMiB, kWritten);
    free(block);
  }
  stopped = true;
  pthread_join(thread, NULL);
  return broken;
}

static _Atomic(void*) passed;

static void* free_passed(void* unused) {
  while (!stopped) free(atomic_exchange(&passed, NULL));
  return unused;
}

/* Gives one block to the other thread. Then allocates blocks, and keeps them, until the allocator returns the first
   block again. */
static bool publishes_before_marking(void) {
  pthread_t thread;
  bool broken = false;
  if (pthread_create(&thread, NULL, free_passed, NULL) != 0) _exit(3);
  for (int round = 0; round < kRounds && !broken; ++round) {  // NOLINT(clang-analyzer-unix.Malloc): see `again`
    void* const block = written(kSmall);
    void* again = NULL;
    passed = block;
    for (int i = 0; passed != NULL; ++i) {
      if (i > 1000) sched_yield();
    }
    for (int i = 0; i < 20 && again != block && !broken; ++i) {
      again = calloc(1, kSmall);  // kept until the first block returns
      broken = !is_zero(again, kSmall);
    }
  }
  stopped = true;
  pthread_join(thread, NULL);
  return broken;
}

/* Runs a check in a child of fork. */
static bool in_child(bool (*broken)(void)) {
  const pid_t child = fork();
  if (child == 0) _exit(broken());
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

static bool calloc_large_is_dirty(void) { return calloc_is_dirty(1, kLargeBytes); }

static bool child_marks_kept_fresh(void) {
  for (int i = 0; i < kTries; ++i) {
    free(written(kLargeBytes));
    if (in_child(calloc_large_is_dirty)) return true;
  }
  return false;
}

static bool late_calloc_is_dirty(void) {
  sleep_ms(20);
  return calloc_is_dirty(1, kLargeBytes);
}

static bool child_never_purges(void) {
  for (int i = 0; i < kTries; ++i) {
    free(written(kLargeBytes));
    if (in_child(late_calloc_is_dirty)) return true;
  }
  return false;
}

static bool smaller_is_lost(void) { return !holds(blocks[0], kLargeBytes * 3 / 4, kWritten); }

static bool wipes_live_in_child(void) {
  for (int i = 0; i < kTries; ++i) {
    free(written(kLargeBytes));
    blocks[0] = written(kLargeBytes * 3 / 4);
    if (in_child(smaller_is_lost)) return true;
    free(blocks[0]);
  }
  return false;
}

static int parent_wrote[2];

static bool parent_shows_through(void) {
  char byte = 0;
  if (read(parent_wrote[0], &byte, 1) != 1) _exit(3);
  return !holds(blocks[0], (size_t)2 * kMiB, kWritten);
}

static bool shared_with_child(void) {
  if (pipe(parent_wrote) != 0) _exit(3);
  blocks[0] = written((size_t)2 * kMiB);
  const pid_t child = fork();
  if (child == 0) _exit(parent_shows_through());
  memset(blocks[0], 1, (size_t)2 * kMiB);
  escape(blocks[0]);
  if (write(parent_wrote[1], "", 1) != 1) _exit(3);
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

static void* write_and_stay(void* unused) {
  write_all();
  passed = blocks;
  while (!stopped) sleep_ms(1);
  return unused;
}

static bool blocks_are_lost(void) {
  bool broken = false;
  for (int i = 0; i < kBlocks; ++i) memset(must_malloc(kSmall / 3), 1, kSmall / 3);
  for (int i = 0; i < kBlocks; ++i) broken |= !holds(blocks[i], kSmall, kWritten);
  return broken;
}

static bool child_carves_again(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, write_and_stay, NULL) != 0) _exit(3);
  while (passed == NULL) sleep_ms(1);
  const bool broken = in_child(blocks_are_lost);
  stopped = true;
  pthread_join(thread, NULL);
  return broken;
}

#define SEQUENCE(name) \
  { #name, name }
const struct sequence threads_and_forks[] = {
    SEQUENCE(remote_free_keeps_mark),
    SEQUENCE(thread_end_marks_fresh),
    SEQUENCE(purges_after_unlock),
    SEQUENCE(publishes_before_marking),
    SEQUENCE(refill_marks_batch_fresh),
    SEQUENCE(child_marks_kept_fresh),
    SEQUENCE(wipes_live_in_child),
    SEQUENCE(shared_with_child),
    SEQUENCE(child_carves_again),
    SEQUENCE(child_never_purges),
    {NULL, NULL},
};
