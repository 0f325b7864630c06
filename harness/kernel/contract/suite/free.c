// Tests of MADV_FREE, MADV_COLD and MADV_PAGEOUT. MADV_PAGEOUT replaces memory pressure: the kernel reclaims freed
// pages at once, without swap and without a full machine.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

static unsigned char* freed(size_t pages) {
  unsigned char* p = written_pages(pages);
  supported(k_madvise(p, pages * page, kFree) == 0, "madvise(MADV_FREE)");
  return p;
}

static size_t zero_pages(const unsigned char* p, size_t pages) {
  size_t count = 0;
  for (size_t i = 0; i < pages; ++i) count += p[i * page] == 0 ? 1 : 0;
  return count;
}

static void old_or_zero(void) {
  unsigned char* p = freed(256);
  expect_old_or_zero(p, 256 * page, kPattern, "after MADV_FREE");
}

// After MADV_FREE, writes one byte to every second page.
static void write_cancels(void) {
  unsigned char* p = freed(64);
  for (size_t i = 0; i < 64; i += 2) {
    write_steps(i == 0);
    set_byte(p + i * page, kOther);
  }
  write_steps(true);
  step("for (size_t i = 2; i < 64; i += 2) m0[i * %zu] = 0x%02x;", page, kOther);
  const bool reclaimed = k_madvise(p, 64 * page, kPageOut) == 0;
  size_t gone = 0;
  for (size_t i = 1; i < 64; i += 2) gone += p[i * page] == 0 ? 1 : 0;
  step("for (size_t i = 0; i < 64; i += 2) check(m0 + i * %zu, 1, 0x%02x);", page, kOther);
  write_steps(false);
  for (size_t i = 0; i < 64; i += 2) {
    unsigned char* at = p + i * page;
    expect(at, 1, kOther, "in a page that was written after MADV_FREE");
    // The rest of the page has its old bytes, or zeros if the kernel reclaimed the page before the write.
    expect(at + 1, page - 1, at[1] == 0 ? 0 : kPattern, "in the rest of a page that was written after MADV_FREE");
  }
  if (!reclaimed) kept("without memory pressure: madvise(MADV_PAGEOUT): %s", error_name(errno));
  kept("%zu of the 32 pages that were not written had been taken", gone);
}

static void reclaimed(void) {
  unsigned char* p = freed(256);
  supported(k_madvise(p, 256 * page, kPageOut) == 0, "madvise(MADV_PAGEOUT)");
  const size_t gone = zero_pages(p, 256);
  expect_old_or_zero(p, 256 * page, kPattern, "after MADV_FREE, and reclaim");
  if (gone == 0) not_testable("nothing was reclaimed");
  fill(p, 256 * page, kOther);
  expect(p, 256 * page, kOther, "after a write to pages that had been reclaimed");
  kept("%zu of 256 pages were reclaimed", gone);
}

static void child_frees(void* data) {
  supported(k_madvise(data, 8 * page, kFree) == 0, "madvise(MADV_FREE)");
  k_madvise(data, 8 * page, kPageOut);
  expect_old_or_zero(data, 8 * page, kPattern, "in the child, after its MADV_FREE");
}

static void after_fork(void) {
  unsigned char* p = written_pages(8);
  in_child(child_frees, NULL, p);
  expect(p, 8 * page, kPattern, "in the parent, after the child's MADV_FREE");
}

static void shared(void) {
  unsigned char* p = k_mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  need(p != MAP_FAILED, "mmap with MAP_SHARED");
  fill(p, 8 * page, kPattern);
  const int result = k_madvise(p, 8 * page, kFree);
  const int error = errno;
  expect(p, 8 * page, kPattern, "in shared memory, which MADV_FREE does not discard");
  if (result != 0) kept("refused: %s", error_name(error));
  kept("taken, without effect");
}

static void advised(int advice, const char* name, const char* what) {
  unsigned char* p = written_pages(64);
  supported(k_madvise(p, 64 * page, advice) == 0, name);
  expect(p, 64 * page, kPattern, what);
}

static void cold(void) { advised(kCold, "madvise(MADV_COLD)", "after MADV_COLD"); }

static void paged_out(void) {
  unsigned char* p = written_pages(64);
  supported(k_madvise(p, 64 * page, kPageOut) == 0, "madvise(MADV_PAGEOUT)");
  unsigned char resident[64];
  const bool known = mincore(p, 64 * page, resident) == 0;
  size_t there = 0;
  for (size_t i = 0; i < 64; ++i) there += resident[i] & 1;
  expect(p, 64 * page, kPattern, "after MADV_PAGEOUT");
  if (!known || there == 64) not_testable("nothing was swapped out (no swap?); the bytes were the same");
  kept("%zu of 64 pages were swapped out", 64 - there);
}

const struct promise kFreePromises[] = {
    {"free-old-or-zero", "After MADV_FREE, a page has its old bytes or is all zero.",
     "largecache: the emulations of libmalloc (offer_pages); jemalloc: pages_purge_lazy; .NET: VirtualReset",
     old_or_zero},
    {"free-write-cancels", "A write to a page after MADV_FREE takes it back: what was written stays.",
     "largecache: large.cc, where MADV_FREE_REUSE would be; jemalloc: pages_purge_lazy; Go 1.12 to 1.15: sysUnused",
     write_cancels},
    {"free-reclaimed", "A page that was reclaimed after MADV_FREE is zero, and can be written again.",
     "largecache: the emulations of libmalloc under memory pressure", reclaimed},
    {"free-child", "MADV_FREE in a child changes nothing in the parent.", "any allocator that uses it, after a fork",
     after_fork},
    {"free-shared", "MADV_FREE does not discard shared memory.",
     "programs that give up memory without knowing what is mapped there", shared},
    {"cold-keeps", "MADV_COLD keeps the content.", "programs that lower the priority of a cache", cold},
    {"pageout-keeps", "A page that was swapped out and in again has its content.",
     "everybody; largecache: pagemap.cc, PageRun::swapped", paged_out},
    {0, 0, 0, 0}};
