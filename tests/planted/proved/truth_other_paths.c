#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "truth.h"

/* Size of the mapping of an aligned block, as a multiple of this alignment. */
enum { kAlignment = 65536, kWhole = 266240 };

static bool aligned_head(void) {
  for (int i = 0; i < kTries; ++i) {
    void* block = aligned_alloc(kAlignment, kLargeBytes);
    escape(block);
    free(block);
    if (calloc_is_dirty(1, kWhole)) return true;
  }
  return false;
}

static bool aligned_tail(void) {
  for (int i = 0; i < kTries; ++i) {
    void* block = aligned_alloc(kAlignment, kLargeBytes);
    memset(block, kWritten, kLargeBytes);
    escape(block);
    free(block);
    if (calloc_is_dirty(1, kWhole)) return true;
  }
  return false;
}

static bool mark_on_copied_header(void) {
  for (int i = 0; i < kTries; ++i) {
    void* block = memalign(256, 1000);
    memset(block, kWritten, 1000);
    escape(block);
    free(block);
    if (calloc_is_dirty(1, 1500)) return true;
  }
  return false;
}

static bool reuse_after(long ms) {
  for (int i = 0; i < kTries; ++i) {
    free(written(kLargeBytes));
    sleep_ms(ms);
    if (calloc_is_dirty(1, kLargeBytes)) return true;
  }
  return false;
}

static bool purge_misses_last_page(void) { return reuse_after(20); }
static bool madv_free_is_zero(void) { return reuse_after(20); }
static bool decays_in_halves(void) { return reuse_after(12); }

/* Limits the process to this much more address space than it has. */
static void limit_memory(size_t more) {
  char text[64] = "";
  const int file = open("/proc/self/statm", O_RDONLY);
  if (file < 0 || read(file, text, sizeof text - 1) <= 0) _exit(3);
  close(file);
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = (rlim_t)strtoul(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + more;
  setrlimit(RLIMIT_AS, &limit);
}

static void unlimit_memory(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
}

/* An allocator may fail here, and it may not return dirty memory. */
static bool reuse_under_limit(void) {
  void* block = malloc(kLargeBytes);
  if (block != NULL) memset(block, kWritten, kLargeBytes);
  escape(block);
  free(block);
  block = calloc(1, kLargeBytes);
  escape(block);
  const bool broken = block != NULL && !is_zero(block, kLargeBytes);
  free(block);
  return broken;
}

static bool reserve_is_fresh(void) {
  limit_memory(0);
  return reuse_under_limit();
}

static bool fallback_is_fresh(void) {
  free(written((size_t)8 * kMiB));
  limit_memory(0);
  return reuse_under_limit();
}

static bool low_memory_purge(void) {
  limit_memory(0);
  reuse_under_limit();
  unlimit_memory();
  return reuse(kLargeBytes, 1, kLargeBytes);
}

static bool shrink_marks_bytes(void) {
  for (int i = 0; i < kTries; ++i) {
    void* block = realloc(written(300000), 100000);
    escape(block);
    free(block);
    if (calloc_is_dirty(1, 300000)) return true;
  }
  return false;
}

static bool grows_without_mark(void) {
  for (int i = 0; i < kTries; ++i) {
    free(written(300000));
    sleep_ms(20);
    void* block = realloc(written(kLargeBytes), 290000);
    if (block == NULL) return false;
    memset(block, kWritten, 290000);
    escape(block);
    free(block);
    if (calloc_is_dirty(1, 290000)) return true;
  }
  return false;
}

static bool realloc_copies_first_size(void) {
  void* block = realloc(written(20000), 20480);
  if (block == NULL) return false;
  memset(block, kWritten, 20480);
  block = realloc(block, 100000);
  return block != NULL && !holds(block, 20480, kWritten);  // NOLINT(clang-analyzer-unix.Malloc): the process ends
}

static bool class_one_short(void) {
  enum { kBlocks = 20, kBytes = 1281 };
  bool broken = false;
  void* blocks[kBlocks];
  for (int i = 0; i < kBlocks; ++i) blocks[i] = written(kBytes);
  for (int i = 0; i < kBlocks; ++i) broken |= !holds(blocks[i], kBytes, kWritten);
  return broken;
}

static bool split_rounds_to_nearest(void) {
  enum { kOdd = 100003 };
  free(written(kMiB));
  void* block = written(kOdd);
  escape(must_malloc(300000));
  return !holds(block, kOdd, kWritten);
}

#define SEQUENCE(name) \
  { #name, name }
const struct sequence other_paths[] = {
    SEQUENCE(aligned_head),
    SEQUENCE(aligned_tail),
    SEQUENCE(mark_on_copied_header),
    SEQUENCE(purge_misses_last_page),
    SEQUENCE(madv_free_is_zero),
    SEQUENCE(decays_in_halves),
    SEQUENCE(reserve_is_fresh),
    SEQUENCE(fallback_is_fresh),
    SEQUENCE(low_memory_purge),
    SEQUENCE(shrink_marks_bytes),
    SEQUENCE(grows_without_mark),
    SEQUENCE(realloc_copies_first_size),
    SEQUENCE(class_one_short),
    SEQUENCE(split_rounds_to_nearest),
    {NULL, NULL},
};
