// Tests of huge pages, which must not change any content.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

static size_t huge_bytes(void) {
  const long known = number_in("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
  return known > 0 ? (size_t)known : page / 8 * page;  // the fallback is the number of bytes that one page of page
                                                       // table entries maps
}

// Maps space for three aligned huge pages, and populates no page. Returns the middle huge page, of `huge` bytes.
static unsigned char* room_for(size_t huge) {
  if (huge > (size_t)32 << 20) not_testable("a huge page is %zu bytes here", huge);
  unsigned char* p = map_pages(4 * huge / page);
  const size_t odd = (uintptr_t)p % huge;
  unsigned char* aligned = p + (odd == 0 ? 0 : huge - odd) + huge;
  supported(k_madvise(aligned, huge, kHugePage) == 0, "madvise(MADV_HUGEPAGE)");
  return aligned;
}

// Collapses these pages into one huge page. MADV_COLLAPSE (needs Linux 6.1 or later) also succeeds if the pages are a
// huge page already.
static void make_huge(unsigned char* p, size_t huge) {
  if (k_madvise(p, huge, kCollapse) == 0) return;
  if (errno == EINVAL) unsupported(errno, "madvise(MADV_COLLAPSE), which makes a huge page for certain");
  not_testable("no huge page could be made: madvise(MADV_COLLAPSE): %s", error_name(errno));
}

static unsigned char* huge_page(size_t huge) {
  unsigned char* p = room_for(huge);
  fill(p, huge, kPattern);
  make_huge(p, huge);
  return p;
}

static void fresh(void) {
  const size_t huge = huge_bytes();
  unsigned char* p = room_for(huge);
  set_byte(p + huge / 2, kPattern);
  expect(p, huge / 2, 0, "where huge pages were asked for, in front of the byte that was written");
  expect(p + huge / 2 + 1, huge / 2 - 1, 0, "where huge pages were asked for, behind the byte that was written");
}

static void collapsed(void) {
  const size_t huge = huge_bytes();
  unsigned char* p = room_for(huge);
  for (size_t at = 0; at < huge; at += huge / 8) fill(p + at, page, kPattern);
  make_huge(p, huge);
  for (size_t at = 0; at < huge; at += huge / 8) {
    expect(p + at, page, kPattern, "in pages that became part of a huge page");
    expect(p + at + page, huge / 8 - page, 0, "in pages that nobody had written, which became part of a huge page");
  }
}

static void discarded(void) {
  const size_t huge = huge_bytes();
  unsigned char* p = huge_page(huge);
  supported(k_madvise(p, huge, MADV_DONTNEED) == 0, "madvise(MADV_DONTNEED)");
  expect(p, huge, 0, "after MADV_DONTNEED of a huge page");
}

static void discarded_in_part(void) {
  const size_t huge = huge_bytes();
  unsigned char* p = huge_page(huge);
  supported(k_madvise(p + huge / 4, huge / 2, MADV_DONTNEED) == 0, "madvise(MADV_DONTNEED)");
  expect(p + huge / 4, huge / 2, 0, "after MADV_DONTNEED of a part of a huge page");
  expect(p, huge / 4, kPattern, "in front of the part of a huge page that was discarded");
  expect(p + 3 * (huge / 4), huge / 4, kPattern, "behind the part of a huge page that was discarded");
}

static void split(void) {
  const size_t huge = huge_bytes();
  unsigned char* p = huge_page(huge);
  supported(k_mprotect(p + 3 * page, page, PROT_READ) == 0, "mprotect");
  need(k_munmap(p + 9 * page, page) == 0, "munmap");
  expect(p, 9 * page, kPattern, "in front of the place where a huge page was split");
  expect(p + 10 * page, huge - 10 * page, kPattern, "behind the place where a huge page was split");
  void* again = k_mmap(p + 9 * page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  need(again == p + 9 * page, "mmap");
  expect(again, page, 0, "in a fresh mapping within what was a huge page");
}

static void free_in_part(void) {
  const size_t huge = huge_bytes();
  unsigned char* p = huge_page(huge);
  supported(k_madvise(p + huge / 2, huge / 2, kFree) == 0, "madvise(MADV_FREE)");
  k_madvise(p + huge / 2, huge / 2, kPageOut);
  expect(p, huge / 2, kPattern, "in front of the part of a huge page that was freed");
  expect_old_or_zero(p + huge / 2, huge / 2, kPattern, "in the part of a huge page that was freed");
}

static void child_writes(void* data) {
  const size_t huge = huge_bytes();
  unsigned char* p = data;
  fill(p + page, page, kOther);
  expect(p + page, page, kOther, "in the child's own page");
  expect(p + 2 * page, huge - 2 * page, kPattern, "in the child, behind its own page");
}

static void forked(void) {
  const size_t huge = huge_bytes();
  unsigned char* p = huge_page(huge);
  in_child(child_writes, NULL, p);
  expect(p, huge, kPattern, "in the parent's huge page, after the child wrote to a part of it");
}

// Tests a page that consists of several small pages but is smaller than a huge page (mTHP, since Linux 6.8).
static void medium_discarded(void) {
  const size_t medium = 16 * page;
  unsigned char* p = map_pages((size_t)3 * 16);
  const size_t odd = (uintptr_t)p % medium;
  unsigned char* aligned = p + (odd == 0 ? 0 : medium - odd);
  supported(k_madvise(aligned, medium, kHugePage) == 0, "madvise(MADV_HUGEPAGE)");
  set_byte(aligned, kPattern);
  unsigned char resident[16] = {0};
  const bool known = mincore(aligned, medium, resident) == 0;
  size_t there = 0;
  for (size_t i = 0; i < 16; ++i) there += resident[i] & 1;
  expect(aligned + 1, medium - 1, 0, "behind the first byte of a page of several small ones");
  fill(aligned, medium, kPattern);
  supported(k_madvise(aligned + 5 * page, 5 * page, MADV_DONTNEED) == 0, "madvise(MADV_DONTNEED)");
  expect(aligned + 5 * page, 5 * page, 0, "after MADV_DONTNEED of a part of a page of several small ones");
  expect(aligned, 5 * page, kPattern, "in front of the part that was discarded");
  expect(aligned + 10 * page, 6 * page, kPattern, "behind the part that was discarded");
  if (!known || there < 16) {
    not_testable(
        "no page of %zu KiB was made (/sys/kernel/mm/transparent_hugepage/hugepages-%zukB/enabled); the bytes "
        "were right",
        medium >> 10, medium >> 10);
  }
  kept("%zu KiB came in at once", medium >> 10);
}

const struct promise kHugePromises[] = {
    {"thp-fresh", "Where huge pages are asked for, memory that nobody wrote reads as zeros.",
     "mimalloc: unix_mmap; numpy: indicate_hugepages, arrays of 4 MiB and more", fresh},
    {"thp-collapse", "Pages that become a huge page keep their bytes, and those that nobody wrote are zero.",
     "everybody, by khugepaged; tcmalloc: SystemAllocator::Collapse; jemalloc: pages_collapse", collapsed},
    {"thp-dontneed", "MADV_DONTNEED of a huge page gives zeros.",
     "jemalloc: pages_purge_forced; Go: scavenged spans, since 1.26", discarded},
    {"thp-dontneed-part", "MADV_DONTNEED of a part of a huge page gives zeros there, and changes no other byte.",
     "Go: sysUnused; tcmalloc: SystemAllocator::Release; jemalloc: hpa_hooks_purge", discarded_in_part},
    {"thp-split", "A huge page that is split keeps its bytes.", "any munmap or mprotect of a part of it", split},
    {"thp-free-part", "MADV_FREE of a part of a huge page takes whole small pages of that part only.",
     "jemalloc: pages_purge_lazy", free_in_part},
    {"thp-fork", "A child's write to a part of a huge page changes nothing in the parent.", "Redis, with huge pages on",
     forked},
    {"mthp-dontneed-part", "MADV_DONTNEED of a part of a page of 64 KiB gives zeros there, and changes no other byte.",
     "jemalloc: pages_purge_forced; mimalloc: mi_arena_purge", medium_discarded},
    {0, 0, 0, 0}};
