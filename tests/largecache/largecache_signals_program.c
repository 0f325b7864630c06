// Threads that allocate and free large blocks. Each thread has a timer, whose handler also allocates and frees large
// and small blocks, although POSIX forbids this. Each block must keep its bytes, and each calloc must return zeros.
// Outside of the handlers, a thread does not use the C library's heap, so that a handler may use that heap. The program
// ends once handlers have made INTERRUPTIONS requests that interrupted the allocator's own work, or after 10 s if there
// was at least one such request. Usage: signals THREADS INTERRUPTIONS
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMostThreads = 4, kSlots = 8, kLarge = 160 << 10, kGiven = 4, kFork = 3000, kHandlerFork = 5000 };

struct block {
  char* start;
  size_t size;
  char tag;
};

// The blocks of one thread, or of its handler.
struct owner {
  struct block slots[kSlots];
  uint64_t random;
};

static struct owner in_thread[kMostThreads];
static struct owner in_handler[kMostThreads];
static _Thread_local int self;
static _Atomic(char*) given[kGiven];  // blocks of threads; any handler may free them
static atomic_long handled;
static atomic_long interrupted;
static atomic_int over;
static long wanted;
static time_t started;
static int threads;

static void fail(const char* what) {
  (void)!write(2, what, strlen(what));
  (void)!write(2, "\n", 1);
  _exit(1);
}

static uint64_t next(struct owner* owner) {
  owner->random = owner->random * 6364136223846793005u + 1442695040888963407u;
  return owner->random >> 33;
}

static void sign(struct block* block, char tag) {
  block->tag = tag;
  block->start[0] = block->start[block->size / 2] = block->start[block->size - 1] = tag;
}

static void check(const struct block* block, size_t size) {
  if (block->start[0] != block->tag) fail("a block has lost its first byte");
  if (size == block->size && block->start[size - 1] != block->tag) fail("a block has lost its last byte");
}

static void check_zero(const struct block* block) {
  for (size_t i = 0; i < block->size; i += 512) {
    if (block->start[i] != 0) fail("calloc's bytes are not zero");
  }
  if (block->start[block->size - 1] != 0) fail("calloc's last byte is not zero");
}

static void give_back(struct owner* owner, int slot) {
  struct block* block = &owner->slots[slot];
  if (block->start == NULL) return;
  check(block, block->size);
  free(block->start);
  block->start = NULL;
}

// Makes one step with the block of a slot: allocates, resizes or frees it.
static void step(struct owner* owner, int small_too) {
  const uint64_t random = next(owner);
  const int slot = (int)(random % kSlots);
  struct block* block = &owner->slots[slot];
  const int is_small = small_too && random / 8 % 3 == 0;
  const size_t size = is_small ? 1 + random / 64 % 2000 : kLarge + random / 64 % 40 * 8192;
  const char tag = (char)(1 + random / 8 % 100);
  if (block->start != NULL) {
    if (random / 32 % 4 != 0 || (!small_too && is_small)) return give_back(owner, slot);
    check(block, block->size);
    if (malloc_usable_size(block->start) < block->size) fail("a block is shorter than it was asked for");
    char* const moved = realloc(block->start, size);
    if (moved == NULL) fail("realloc failed");
    const size_t kept = size < block->size ? size : block->size;
    block->start = moved;
    check(block, kept);
    block->size = size;
    return sign(block, tag);
  }
  block->size = size;
  switch (random / 32 % 4) {
    case 0:
      block->start = calloc(1, size);
      if (block->start != NULL) check_zero(block);
      break;
    case 1:
      block->start = aligned_alloc(4096, size);
      if ((uintptr_t)block->start % 4096 != 0) fail("a block is not aligned");
      break;
    default:
      block->start = malloc(size);
      // A block of largecache starts at a page. A block of the C library never does.
      if (small_too && size >= kLarge && (uintptr_t)block->start % 4096 != 0) atomic_fetch_add(&interrupted, 1);
      break;
  }
  if (block->start == NULL) fail("no memory");
  sign(block, tag);
}

static void use_in_child(struct owner* owner) {
  for (int i = 0; i < 50; ++i) step(owner, 0);
  _exit(0);
}

static void wait_for(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("a child failed");
}

static void on_timer(int number) {
  (void)number;
  struct owner* owner = &in_handler[self];
  for (int i = 0; i < 4; ++i) step(owner, 1);
  free(atomic_exchange(&given[next(owner) % kGiven], NULL));
  const long count = atomic_fetch_add(&handled, 1) + 1;
  if (threads == 1 && count % kHandlerFork == 0) {
    const pid_t child = fork();
    if (child == 0) use_in_child(owner);
    wait_for(child);
  }
}

static timer_t start_timer(void) {
  struct sigevent event = {0};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN;
  event._sigev_un._tid = (int)syscall(SYS_gettid);
  timer_t timer;
  const struct itimerspec often = {{0, 40000}, {0, 40000}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0)
    fail("no timer");
  return timer;
}

static void* work(void* argument) {
  self = (int)(intptr_t)argument;
  struct owner* owner = &in_thread[self];
  owner->random = (uint64_t)self + 1;
  in_handler[self].random = (uint64_t)self + 100;
  const timer_t timer = start_timer();
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGRTMIN);
  for (long steps = 1; !atomic_load(&over); ++steps) {
    step(owner, 0);
    if (steps % 16 == 0) {
      char* const block = malloc(kLarge);
      if (block == NULL) fail("no memory");
      block[0] = 1;
      char* nobody = NULL;
      // Only a handler may free this block.
      if (!atomic_compare_exchange_strong(&given[steps / 16 % kGiven], &nobody, block)) free(block);
    }
    if (steps % kFork == 0) {
      // The C library's fork must not be interrupted by another fork.
      pthread_sigmask(SIG_BLOCK, &signals, NULL);
      const pid_t child = fork();
      if (child == 0) use_in_child(owner);
      pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
      int status = 0;
      if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("a child failed");
    }
    const long needed = time(NULL) - started < 10 ? wanted : 1;
    if (atomic_load(&interrupted) >= needed) atomic_store(&over, 1);
  }
  timer_delete(timer);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  threads = atoi(argv[1]);
  wanted = atol(argv[2]);
  started = time(NULL);
  alarm(100);  // a hang ends the program
  struct sigaction action = {0};
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGRTMIN, &action, NULL);
  pthread_t ids[kMostThreads];
  for (int i = 1; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)(intptr_t)i);
  work((void*)0);
  for (int i = 1; i < threads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; ++i) {
    for (int slot = 0; slot < kSlots; ++slot) {
      give_back(&in_thread[i], slot);
      give_back(&in_handler[i], slot);
    }
  }
  for (int i = 0; i < kGiven; ++i) free(given[i]);
  printf("%ld %ld\n", atomic_load(&interrupted), atomic_load(&handled));
  return 0;
}
