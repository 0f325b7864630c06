// Tests of pages that the kernel moves or merges by itself.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

enum { kMovedPages = 8, kMergedPages = 64 };

// Waits until KSM has merged most of the test's pages with each other. Returns false if KSM has not done so after 10 s.
static bool wait_for_merging(long before) {
  const double begin = now();
  while (number_in("/sys/kernel/mm/ksm/pages_sharing") < before + kMergedPages / 2) {
    if (now() - begin > 10) return false;
    usleep(10000);
  }
  return true;
}

static void merged(void) {
  const bool runs = number_in("/sys/kernel/mm/ksm/run") == 1;
  const long before = number_in("/sys/kernel/mm/ksm/pages_sharing");
  unsigned char* p = map_pages(kMergedPages + 8);
  fill(p, kMergedPages * page, kPattern);
  supported(k_madvise(p, (kMergedPages + 8) * page, kMergeable) == 0, "madvise(MADV_MERGEABLE)");
  step("sleep(%d);  // until ksmd has merged them, where it runs", runs ? 5 : 0);
  const bool done = runs && wait_for_merging(before);
  expect(p, kMergedPages * page, kPattern, "in pages that may be merged");
  fill(p + 3 * page, page, kOther);
  expect(p, 3 * page, kPattern, "in front of a page that was written, among pages that may be merged");
  expect(p + 3 * page, page, kOther, "in a page that was written, among pages that may be merged");
  expect(p + 4 * page, (kMergedPages - 4) * page, kPattern,
         "behind a page that was written, among pages that may be merged");
  expect(p + kMergedPages * page, 8 * page, 0, "in pages that nobody wrote, among pages that may be merged");
  if (!runs) not_testable("KSM does not run (/sys/kernel/mm/ksm/run); the bytes were right");
  if (!done) not_testable("KSM merged nothing within 10 s; the bytes were right");
  kept("after most of %d pages were merged", kMergedPages);
}

// Returns a mask of the NUMA nodes that the process may use, among the first 64.
static uint64_t allowed_nodes(void) {
  enum { kMemsAllowed = 4, kMostNodes = 1024 };  // MPOL_F_MEMS_ALLOWED
  uint64_t mask[kMostNodes / 64] = {0};
  supported(kernel(SYS_get_mempolicy, 0, (long)mask, kMostNodes, 0, kMemsAllowed, 0) == 0, "get_mempolicy");
  return mask[0];
}

// Stores the current node of each page, or a negative error number, in `is`. First moves the pages to the nodes in
// `to`, unless `to` is NULL.
static void move(unsigned char* p, const int* to, int* is) {
  enum { kMove = 2 };  // MPOL_MF_MOVE
  void* at[kMovedPages];
  for (int i = 0; i < kMovedPages; ++i) at[i] = p + (size_t)i * page;
  const long done = kernel(SYS_move_pages, 0, kMovedPages, (long)at, (long)to, (long)is, kMove);
  supported(done >= 0, "move_pages");
}

static void migrated(void) {
  unsigned char* p = map_pages(kMovedPages);
  fill(p, (kMovedPages - 2) * page, kPattern);
  const uint64_t nodes = allowed_nodes();
  int is[kMovedPages];
  move(p, NULL, is);
  if (is[0] < 0) not_testable("move_pages does not say where a page is: %s", error_name(-is[0]));
  int target = is[0];
  for (int node = 0; node < 64; ++node) {
    if ((nodes >> node & 1) != 0 && node != is[0]) target = node;
  }
  int to[kMovedPages];
  for (int i = 0; i < kMovedPages; ++i) to[i] = target;
  step("void* at[%d];", kMovedPages);
  step("int to[%d], is[%d];", kMovedPages, kMovedPages);
  step("for (int i = 0; i < %d; i++) at[i] = %s + i * %zu, to[i] = %d;", kMovedPages, place(p), page, target);
  step("r = syscall(SYS_move_pages, 0, %d, at, to, is, 2);", kMovedPages);
  const int from = is[0];
  move(p, to, is);
  const bool moved = is[0] == target;
  expect(p, (kMovedPages - 2) * page, kPattern, "in pages that were moved to another node");
  expect(p + (kMovedPages - 2) * page, 2 * page, 0, "in pages that nobody wrote, moved to another node");
  if (target == from) not_testable("this machine has one NUMA node; the bytes were right");
  if (!moved) not_testable("the pages stayed on node %d (%s)", from, is[0] < 0 ? error_name(-is[0]) : "no error");
  kept("from node %d to node %d", from, target);
}

const struct promise kMovePromises[] = {
    {"ksm-keeps", "Pages that KSM merges keep their bytes, and a write to one changes no other.",
     "QEMU: memory_try_enable_merging; systemd: MemoryKSM=", merged},
    {"numa-moves", "Pages that are moved to another NUMA node keep their bytes; those that nobody wrote stay zero.",
     "every program on a machine with several nodes, by automatic balancing", migrated},
    {0, 0, 0, 0}};
