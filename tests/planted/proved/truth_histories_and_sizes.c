#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "truth.h"

static bool mark_survives_huge(void) { return reuse((size_t)16 * kMiB, 1, (size_t)16 * kMiB); }

static bool mark_toggles(void) {
  for (int i = 0; i < kTries; ++i) {
    free(written(kSmall));
    if (reuse(kSmall, 1, kSmall)) return true;
  }
  return false;
}

static bool batch_purges_inner_pages(void) {
  enum { kBlocks = 16, kBytes = 10000 };
  void* blocks[kBlocks];
  for (int i = 0; i < kBlocks; ++i) blocks[i] = written(kBytes);
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  bool broken = false;
  for (int i = 0; i < kBlocks; ++i) {
    blocks[i] = calloc(1, kBytes);
    broken |= !is_zero(blocks[i], kBytes);
  }
  return broken;
}

static bool calloc_marks_zero(void) {
  enum { kBytes = 20000 };
  void* block = calloc(1, kBytes);
  if (block == NULL) return false;
  memset(block, kWritten, kBytes);
  escape(block);
  free(block);
  return calloc_is_dirty(1, kBytes);
}

static bool samples_first_bytes(void) {
  for (int i = 0; i < kTries; ++i) {
    char* block = must_malloc(kLargeBytes);
    memset(block, 0, 512);
    memset(block + 512, kWritten, kLargeBytes - 512);
    escape(block);
    free(block);
    if (calloc_is_dirty(1, kLargeBytes)) return true;
  }
  return false;
}

static bool samples_a_byte_a_page(void) {
  for (int i = 0; i < kTries; ++i) {
    char* block = must_malloc(kLargeBytes);
    memset(block, 0, kLargeBytes);
    for (int at = 1000; at < kLargeBytes; at += 4096) block[at] = 1;
    escape(block);
    free(block);
    if (calloc_is_dirty(1, kLargeBytes)) return true;
  }
  return false;
}

static bool purges_oldest_marks_newest(void) {
  enum { kBlocks = 12, kBytes = 40000 };
  for (int try = 0; try < kTries; ++try) {
    void* blocks[kBlocks];
    for (int i = 0; i < kBlocks; ++i) blocks[i] = written(kBytes);
    for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
    bool broken = false;
    for (int i = 0; i < kBlocks; ++i) {
      blocks[i] = calloc(1, kBytes);
      broken |= !is_zero(blocks[i], kBytes);
    }
    for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
    if (broken) return true;
  }
  return false;
}

static bool trim_forgets_pad(void) {
  for (int i = 0; i < kTries; ++i) {
    free(written(kLargeBytes));
    malloc_trim(65536);
    if (calloc_is_dirty(1, kLargeBytes)) return true;
  }
  return false;
}

static bool tail_of_words(void) { return reuse(103, 1, 103); }
static bool class_boundary(void) { return reuse(320, 1, 320); }
static bool threshold_itself(void) { return reuse(128 << 10, 1, 128 << 10); }
static bool purge_without_rest(void) { return reuse(2 * kMiB + 100, 1, 2 * kMiB + 100); }
static bool clears_by_element(void) { return reuse(117, 9, 13); }

/* Writes and checks only the first and the last page. */
static bool length_of_32_bits(void) {
  enum { kLooked = 4096 };
  const size_t bytes = ((size_t)4 << 30) + ((size_t)64 << 10);
  for (int i = 0; i < kTries; ++i) {
    char* block = must_malloc(bytes);
    memset(block, kWritten, kLooked);
    memset(block + bytes - kLooked, kWritten, kLooked);
    escape(block);
    free(block);
    block = calloc(1, bytes);
    if (block == NULL) return false;
    const bool broken = !is_zero(block, kLooked) || !is_zero(block + bytes - kLooked, kLooked);
    free(block);
    if (broken) return true;
  }
  return false;
}

static bool product_of_32_bits(void) {
  volatile size_t count = 65536;
  volatile size_t size = 65537;
  void* block = calloc(count, size);
  escape(block);
  return block != NULL && malloc_usable_size(block) < count * size;
}

static bool overflow_needs_two_large(void) {
  volatile size_t count = SIZE_MAX / 16 + 2;
  void* block = calloc(count, 16);
  escape(block);
  return block != NULL;
}

#define SEQUENCE(name) \
  { #name, name }
const struct sequence histories_and_sizes[] = {
    SEQUENCE(mark_survives_huge),
    SEQUENCE(mark_toggles),
    SEQUENCE(batch_purges_inner_pages),
    SEQUENCE(calloc_marks_zero),
    SEQUENCE(samples_first_bytes),
    SEQUENCE(samples_a_byte_a_page),
    SEQUENCE(purges_oldest_marks_newest),
    SEQUENCE(trim_forgets_pad),
    SEQUENCE(tail_of_words),
    SEQUENCE(class_boundary),
    SEQUENCE(threshold_itself),
    SEQUENCE(purge_without_rest),
    SEQUENCE(length_of_32_bits),
    SEQUENCE(clears_by_element),
    SEQUENCE(product_of_32_bits),
    SEQUENCE(overflow_needs_two_large),
    {NULL, NULL},
};
