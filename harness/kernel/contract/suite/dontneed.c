// Tests of MADV_DONTNEED.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

static void discard(unsigned char* p, size_t bytes) {
  supported(k_madvise(p, bytes, MADV_DONTNEED) == 0, "madvise(MADV_DONTNEED)");
}

static void anonymous(void) {
  unsigned char* p = written_pages(256);
  discard(p, 256 * page);
  expect(p, 256 * page, 0, "after MADV_DONTNEED");
  fill(p, 256 * page, kOther);
  discard(p, 256 * page);
  expect(p, 256 * page, 0, "after a second MADV_DONTNEED");
}

static void part(void) {
  unsigned char* p = written_pages(64);
  discard(p + 7 * page, 20 * page);
  expect(p + 7 * page, 20 * page, 0, "in the pages of MADV_DONTNEED");
  expect(p, 7 * page, kPattern, "in front of the pages of MADV_DONTNEED");
  expect(p + 27 * page, 37 * page, kPattern, "behind the pages of MADV_DONTNEED");
}

static void odd_length(void) {
  unsigned char* p = written_pages(8);
  discard(p + page, 2 * page + 1);
  expect(p + page, 3 * page, 0, "after MADV_DONTNEED of a length that is rounded up to pages");
  expect(p + 4 * page, 4 * page, kPattern, "behind them");
}

static void odd_start(void) {
  unsigned char* p = written_pages(8);
  expect_error(k_madvise(p + page + 1, page, MADV_DONTNEED) != 0, EINVAL, "EINVAL",
               "MADV_DONTNEED from the middle of a page");
  expect(p, 8 * page, kPattern, "after a MADV_DONTNEED that was refused");
}

static void locked(void) {
  unsigned char* p = written_pages(8);
  need(k_mlock(p, 8 * page) == 0, "mlock");
  const int result = k_madvise(p, 8 * page, MADV_DONTNEED);
  if (result == 0) {
    expect(p, 8 * page, 0, "after MADV_DONTNEED of locked pages, which succeeded");
    kept("locked pages are discarded");
  }
  expect(p, 8 * page, kPattern, "after MADV_DONTNEED of locked pages, which was refused");
  kept("refused: %s", error_name(errno));
}

static void locked_too(void) {
  unsigned char* p = written_pages(8);
  need(k_mlock(p, 8 * page) == 0, "mlock");
  supported(k_madvise(p, 8 * page, kDontNeedLocked) == 0, "madvise(MADV_DONTNEED_LOCKED)");
  expect(p, 8 * page, 0, "after MADV_DONTNEED_LOCKED of locked pages");
}

static void child_discards(void* data) {
  unsigned char* p = data;
  discard(p, 4 * page);
  expect(p, 4 * page, 0, "in the child, after its MADV_DONTNEED of pages that it shares");
  expect(p + 4 * page, 4 * page, kPattern, "in the child, behind its MADV_DONTNEED");
}

static void after_fork(void) {
  unsigned char* p = written_pages(8);
  in_child(child_discards, NULL, p);
  expect(p, 8 * page, kPattern, "in the parent, after the child's MADV_DONTNEED");
}

static void child_looks(void* data) {
  expect(data, 8 * page, kPattern, "in the child, after the parent's MADV_DONTNEED");
}

static void parent_discards(void* data) {
  discard(data, 8 * page);
  expect(data, 8 * page, 0, "in the parent, after its MADV_DONTNEED of pages that it shares");
}

static void before_child(void) { in_child(child_looks, parent_discards, written_pages(8)); }

static void unreadable(void) {
  unsigned char* p = written_pages(16);
  need(k_mprotect(p + 4 * page, 8 * page, PROT_NONE) == 0, "mprotect");
  discard(p + 4 * page, 8 * page);
  need(k_mprotect(p + 4 * page, 8 * page, PROT_READ | PROT_WRITE) == 0, "mprotect");
  expect(p + 4 * page, 8 * page, 0, "after MADV_DONTNEED under PROT_NONE");
  expect(p, 4 * page, kPattern, "in front of it");
}

static void hole(void) {
  unsigned char* p = written_pages(12);
  need(k_munmap(p + 4 * page, 4 * page) == 0, "munmap");
  expect_error(k_madvise(p, 12 * page, MADV_DONTNEED) != 0, ENOMEM, "ENOMEM",
               "MADV_DONTNEED over pages of which some are not mapped");
  expect(p, 4 * page, 0, "in front of a hole, after MADV_DONTNEED");
  expect(p + 8 * page, 4 * page, 0, "behind a hole, after MADV_DONTNEED");
}

static void shared(void) {
  unsigned char* p = k_mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  need(p != MAP_FAILED, "mmap with MAP_SHARED");
  fill(p, 8 * page, kPattern);
  discard(p, 8 * page);
  expect(p, 8 * page, kPattern, "in shared memory, which MADV_DONTNEED does not discard");
}

static void of_file(void) {
  const int fd = k_memfd();
  need(fd >= 0, "memfd_create");
  need(k_truncate(fd, (off_t)(8 * page)) == 0, "ftruncate");
  unsigned char* file = k_mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  need(file != MAP_FAILED, "mmap of a file");
  fill(file, 8 * page, kOther);
  unsigned char* p = k_mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  need(p != MAP_FAILED, "mmap of a file");
  fill(p, 8 * page, kPattern);
  discard(p, 8 * page);
  expect(p, 8 * page, kOther, "in private pages of a file, which have the file's bytes after MADV_DONTNEED");
}

static void guarded(void) {
  unsigned char* p = written_pages(16);
  supported(k_madvise(p + 4 * page, 4 * page, kGuardInstall) == 0, "madvise(MADV_GUARD_INSTALL)");
  discard(p, 16 * page);
  need(k_madvise(p + 4 * page, 4 * page, kGuardRemove) == 0, "madvise(MADV_GUARD_REMOVE)");
  expect(p, 16 * page, 0, "after MADV_DONTNEED of pages with guards among them");
}

static void guard_discards(void) {
  unsigned char* p = written_pages(16);
  supported(k_madvise(p + 4 * page, 4 * page, kGuardInstall) == 0, "madvise(MADV_GUARD_INSTALL)");
  need(k_madvise(p, 16 * page, kGuardRemove) == 0, "madvise(MADV_GUARD_REMOVE)");
  expect(p + 4 * page, 4 * page, 0, "where guards were");
  expect(p, 4 * page, kPattern, "in front of guards");
  expect(p + 8 * page, 8 * page, kPattern, "behind guards");
}

const struct promise kDontNeedPromises[] = {
    {"dontneed", "After MADV_DONTNEED, private anonymous memory reads as zeros.",
     "jemalloc: ehooks_default_zero_impl; Go: scavenged spans, since 1.26; Wasmtime: MemoryImageSlot; "
     "glibc: shrink_heap and mtrim, only to give memory back; largecache: policies/purge.cc",
     anonymous},
    {"dontneed-part", "MADV_DONTNEED of some pages changes no other page.",
     "jemalloc: pages_purge_forced; mimalloc: mi_arena_purge; glibc: mtrim; "
     "largecache: adaptive/adaptive.cc, take_sample",
     part},
    {"dontneed-length", "MADV_DONTNEED rounds its length up to whole pages.", "callers that pass the size of a block",
     odd_length},
    {"dontneed-start", "MADV_DONTNEED from the middle of a page fails with EINVAL, and changes nothing.",
     "callers that fall back to memset", odd_start},
    {"dontneed-locked", "MADV_DONTNEED of locked pages discards them, or fails and changes nothing.",
     "scudo: releaseAndZeroPagesToOSImpl, and memset if it fails; "
     "tcmalloc: SystemAllocator::Release, and munlock if it fails; largecache: policies/purge.cc, clear_unless_purged",
     locked},
    {"dontneed-locked-too", "MADV_DONTNEED_LOCKED discards locked pages.", "tcmalloc: MadvDontNeedAdviceAvailable",
     locked_too},
    {"dontneed-child", "MADV_DONTNEED in a child gives it zeros, and the parent keeps its bytes.",
     "Redis: dismissObject, in the child of BGSAVE; "
     "largecache: adaptive/adaptive_model.cc, the first calloc after a fork purges",
     after_fork},
    {"dontneed-parent", "MADV_DONTNEED in the parent gives it zeros, and the child keeps its bytes.",
     "largecache: adaptive/adaptive_model.cc, the first calloc after a fork purges", before_child},
    {"dontneed-none", "MADV_DONTNEED works on memory without access (PROT_NONE).",
     "tcmalloc: MadvDontNeedAdviceAvailable; mimalloc: mi_arena_purge, where a part is not committed", unreadable},
    {"dontneed-hole", "MADV_DONTNEED over a hole fails with ENOMEM, and discards what is mapped.",
     "hardened_malloc: memory_purge, and memset after ENOMEM", hole},
    {"dontneed-shared", "MADV_DONTNEED does not discard shared memory.", "mesh: freePhys, which punches a hole as well",
     shared},
    {"dontneed-file", "After MADV_DONTNEED, private pages of a file have the file's bytes.",
     "Wasmtime: MemoryImageSlot, resetting an instance to its image", of_file},
    {"dontneed-guard", "MADV_DONTNEED of pages with guards among them (MADV_GUARD_INSTALL) discards the others.",
     "largecache: docs/largecache.md, Limits", guarded},
    {"guard-discards", "A guard discards its pages, which read as zeros once it is removed.",
     "glibc 2.42: allocatestack.c, stacks of threads", guard_discards},
    {0, 0, 0, 0}};
