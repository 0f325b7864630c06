// Tests of copy-on-write after a fork.
#define _GNU_SOURCE
#include <sys/mman.h>

#include "contract/suite/suite.h"

static void child_writes(void* data) {
  unsigned char* p = data;
  expect(p, 16 * page, kPattern, "in the child, after the fork");
  fill(p, 16 * page, kOther);
  expect(p, 16 * page, kOther, "in the child, after its write");
}

static void child_write(void) {
  unsigned char* p = written_pages(16);
  in_child(child_writes, NULL, p);
  expect(p, 16 * page, kPattern, "in the parent, after the child's write");
}

static void child_looks(void* data) { expect(data, 16 * page, kPattern, "in the child, after the parent's write"); }

static void parent_writes(void* data) {
  fill(data, 16 * page, kOther);
  expect(data, 16 * page, kOther, "in the parent, after its write");
}

static void parent_write(void) { in_child(child_looks, parent_writes, written_pages(16)); }

static void child_finds_zeros(void* data) {
  unsigned char* p = data;
  expect(p, 16 * page, 0, "in the child, in pages that nobody had written");
  fill(p, 16 * page, kOther);
}

static void untouched(void) {
  unsigned char* p = map_pages(16);
  touch_by_reading(p, 8 * page);
  in_child(child_finds_zeros, NULL, p);
  expect(p, 16 * page, 0, "in the parent, in pages that only the child wrote");
}

static void child_maps(void* data) {
  (void)data;
  expect(map_pages(64), 64 * page, 0, "in a fresh mapping of the child");
}

static void child_fresh(void) {
  unsigned char* p = written_pages(64);
  need(k_munmap(p, 64 * page) == 0, "munmap");
  in_child(child_maps, NULL, NULL);
}

const struct promise kForkPromises[] = {
    {"fork-child-write", "What a child writes to private memory is not seen by the parent.",
     "every program that forks; zerotax: docs/cow.md", child_write},
    {"fork-parent-write", "What the parent writes to private memory is not seen by a child.",
     "Redis: BGSAVE; zerotax: cases/fork_snapshot", parent_write},
    {"fork-untouched", "Pages that nobody wrote are zero in a child, and its writes to them are its own.",
     "largecache: blocks that are zero stay so in a child", untouched},
    {"fork-fresh", "A fresh mapping of a child reads as zeros.", "every allocator, in a child", child_fresh},
    {0, 0, 0, 0}};
