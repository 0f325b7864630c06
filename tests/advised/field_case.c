/* Programs that people asked about (tests/program/advise/field_cases_test.py). The first argument selects one. */
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

enum { kPage = 4096, kBlocks = 256, kBlock = 64 << 10 };
static const size_t kLarge = (size_t)4 << 20;

static void touch(char* block, size_t bytes, size_t step) {
  for (size_t at = 0; at < bytes; at += step) block[at] = 1;
}

/* Fills and frees a block of 4 MiB 50 times (LadybirdBrowser/ladybird#9327). With a pause after each round, memory that
   is returned after a delay is also returned. */
static void refill_one(long pause_ms) {
  const struct timespec pause = {0, pause_ms * 1000000};
  for (int round = 0; round < 50; ++round) {
    char* const block = malloc(kLarge);
    touch(block, kLarge, kPage);
    free(block);
    if (pause_ms != 0) nanosleep(&pause, NULL);
  }
}

/* Fills and frees a block of 48 MiB, which mimalloc unmaps, 6 times. */
static void refill_huge(void) {
  for (int round = 0; round < 6; ++round) {
    char* const block = malloc(48 * (size_t)kMiB);
    touch(block, 48 * (size_t)kMiB, kPage);
    free(block);
  }
}

static pthread_barrier_t turn;
static int (*trim)(size_t) = malloc_trim;
enum { kTrims = 10 };

/* A thread that trims, as a timer does. */
static void* trim_by_timer(void* unused) {
  for (int i = 0; i < kTrims; ++i) {
    pthread_barrier_wait(&turn);
    trim(0);
    pthread_barrier_wait(&turn);
  }
  return unused;
}

/* Frees every second block before each trim, and needs these blocks again afterwards (amule-org/amule#1156). */
static void be_trimmed(void) {
  static char* blocks[2 * kBlocks];
  pthread_t timer;
  pthread_barrier_init(&turn, NULL, 2);
  pthread_create(&timer, NULL, trim_by_timer, NULL);
  for (int i = 0; i < 2 * kBlocks; ++i) touch(blocks[i] = malloc(kBlock), kBlock, kPage);
  for (int round = 0; round < kTrims; ++round) {
    for (int i = 0; i < 2 * kBlocks; i += 2) free(blocks[i]);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    for (int i = 0; i < 2 * kBlocks; i += 2) touch(blocks[i] = malloc(kBlock), kBlock, kPage);
  }
  pthread_join(timer, NULL);
}

/* Frees each block of 4 MiB, but keeps a small block behind it (opencv/opencv#15526). */
static void leave_holes(size_t alignment) {
  for (int i = 0; i < 20; ++i) {
    char* const block = alignment == 0 ? malloc(kLarge) : memalign(alignment, kLarge);
    touch(block, kLarge, kPage);
    if (malloc(100) == NULL) abort();
    free(block);
  }
}

/* Clears a buffer of 1 MiB, and reads 16 KiB into it, 200 times (tokio-rs/tokio#269). */
static void read_into_buffers(void) {
  const int zeros = open("/dev/zero", O_RDONLY);
  for (int i = 0; i < 200; ++i) {
    char* const buffer = malloc(kMiB);
    memset(buffer, 0, kMiB);
    if (read(zeros, buffer, 16 << 10) < 0) abort();
    free(buffer);
  }
  close(zeros);
}

/* Rust's alloc_zeroed for an alignment above 16 (finufft#438). The program uses little of each block. */
static void clear_aligned(void) {
  for (int i = 0; i < 8; ++i) {
    void* block = NULL;
    if (posix_memalign(&block, 64, 2 * kLarge) != 0) abort();
    memset(block, 0, 2 * kLarge);
    *(char*)block = 1;
  }
}

/* Uses a page in each 300 KiB of memory in huge pages (jj-vcs/jj#9708). */
static void use_little(void) {
  const size_t bytes = 64 * (size_t)kMiB;
  for (int i = 0; i < 4; ++i) {
    char* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, bytes, MADV_HUGEPAGE);
    touch(memory, bytes, 300 << 10);
  }
}

static void* use_stack(void* unused) {
  char local[2 * kPage];
  touch(local, sizeof local, kPage);
  pthread_barrier_wait(&turn);
  return unused;
}

/* Uses little of 16 stacks of threads, which are in huge pages (openjdk/jdk#14919). */
static void use_stacks(void) {
  enum { kThreads = 16, kStack = 4 * kMiB };
  const size_t bytes = (size_t)kThreads * kStack;
  char* all = mmap(NULL, bytes + kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  all += kStack - (size_t)all % kStack;
  madvise(all, bytes, MADV_HUGEPAGE);
  pthread_t threads[kThreads];
  pthread_barrier_init(&turn, NULL, kThreads);
  for (size_t i = 0; i < kThreads; ++i) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, all + i * kStack, kStack);
    pthread_create(&threads[i], &attributes, use_stack, NULL);
  }
  for (size_t i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

int main(int count, char** words) {
  const char* const way = count > 1 ? words[1] : "";
  if (strcmp(way, "refill") == 0) refill_one(0);
  if (strcmp(way, "huge") == 0) refill_huge();
  if (strcmp(way, "pauses") == 0) refill_one(15);
  if (strcmp(way, "found-trims") == 0) *(void**)&trim = dlsym(dlopen("libc.so.6", RTLD_NOW), "malloc_trim");
  if (strstr(way, "trims") != NULL) be_trimmed();
  if (strcmp(way, "holes") == 0) leave_holes(64);
  if (strcmp(way, "no-holes") == 0) leave_holes(0);
  if (strcmp(way, "reads") == 0) read_into_buffers();
  if (strcmp(way, "aligned") == 0) clear_aligned();
  if (strcmp(way, "sparse") == 0) use_little();
  if (strcmp(way, "stacks") == 0) use_stacks();
  puts("done");
  return 0;
}
