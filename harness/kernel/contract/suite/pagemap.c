// Tests of /proc/self/pagemap and PAGEMAP_SCAN. Both must list a page that is not zero, and must not list a page that
// was discarded.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

static int open_it(void) {
  const int fd = k_open_pagemap();
  need(fd >= 0, "opening /proc/self/pagemap");
  return fd;
}

// Every third page has a nonzero word.
enum { kPages = 256, kStride = 3 };

static unsigned char* every_third(void) {
  unsigned char* p = map_pages(kPages);
  touch_by_reading(p, 64 * page);
  step("for (int i = 0; i < %d; i += %d) m0[i * %zu + 8] = 0x%02x;", kPages, kStride, page, kPattern);
  for (size_t i = 0; i < kPages; i += kStride) p[i * page + 8] = kPattern;
  return p;
}

static bool listed(int fd, const unsigned char* p) {
  return (k_pagemap_entry(fd, p) & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) != 0;
}

static void entry_written(void) {
  const int fd = open_it();
  unsigned char* p = every_third();
  step("for (int i = 0; i < %d; i += %d)", kPages, kStride);
  step("  if (!(entry(fd, m0 + i * %zu) >> 62)) return printf(\"broken: page %%d is not listed\\n\", i), 1;", page);
  for (size_t i = 0; i < kPages; i += kStride) {
    if (!listed(fd, p + i * page)) {
      report->address = (uint64_t)(uintptr_t)(p + i * page);
      broken("page %zu of %d was written, and is neither present nor swapped in pagemap", i, kPages);
    }
  }
}

static void entry_discarded(void) {
  const int fd = open_it();
  unsigned char* p = every_third();
  need(k_madvise(p, kPages * page, MADV_DONTNEED) == 0, "madvise(MADV_DONTNEED)");
  step("for (int i = 0; i < %d; i++)", kPages);
  step("  if (entry(fd, m0 + i * %zu) >> 62) return printf(\"broken: page %%d is listed\\n\", i), 1;", page);
  for (size_t i = 0; i < kPages; ++i) {
    if (listed(fd, p + i * page)) {
      broken("page %zu of %d was discarded, and is still present or swapped in pagemap", i, kPages);
    }
  }
}

// Marks each listed page in `found`, and returns the number of listed pages. If the array of regions is full, the walk
// continues where it stopped.
static size_t scan(int fd, unsigned char* p, size_t pages, uint64_t any_of, uint64_t flags, size_t room, bool* found) {
  struct scan_region regions[64];
  struct scan_request request = {.size = sizeof request, .flags = flags, .start = (uint64_t)(uintptr_t)p};
  request.end = request.start + pages * page;
  request.regions = (uint64_t)(uintptr_t)regions;
  request.region_count = room;
  request.any_of = request.wanted = any_of;
  size_t count = 0;
  for (size_t i = 0; found != NULL && i < pages; ++i) found[i] = false;
  report->helpers |= kNeedsScan;
  do {
    const long got = k_ioctl(fd, PAGEMAP_SCAN_REQUEST, &request);
    supported(got >= 0, "ioctl(PAGEMAP_SCAN)");
    for (long r = 0; r < got; ++r) {
      for (uint64_t at = regions[r].start; at < regions[r].end; at += page, ++count) {
        const size_t index = (size_t)(at - (uint64_t)(uintptr_t)p) / page;
        if (found != NULL && index < pages) found[index] = true;
      }
    }
    if (request.walk_end <= request.start) broken("PAGEMAP_SCAN does not advance");
    request.start = request.walk_end;
  } while (request.start < request.end);
  return count;
}

static void write_scan(const char* result, size_t pages, uint64_t any_of, uint64_t flags, size_t room) {
  step("long %s = scan(fd, m0, %zu, %lu, %lu, %zu, regions);", result, pages * page, (unsigned long)any_of,
       (unsigned long)flags, room);
}

// `room` is the number of regions: 64, or so few that the walk stops often.
static void scan_of_written(size_t room) {
  const int fd = open_it();
  unsigned char* p = every_third();
  static bool populated[kPages], zero[kPages];
  step("uint64_t regions[3 * 64];");
  write_scan("populated", kPages, kPagePresent | kPageSwapped, 0, room);
  write_scan("zero", kPages, kPageZero, 0, room);
  scan(fd, p, kPages, kPagePresent | kPageSwapped, 0, room, populated);
  scan(fd, p, kPages, kPageZero, 0, room, zero);
  for (size_t i = 0; i < kPages; ++i) {
    const bool was_written = i % kStride == 0;
    const bool may_be_dirty = populated[i] && !zero[i];
    if (was_written && !may_be_dirty) {
      report->address = (uint64_t)(uintptr_t)(p + i * page);
      step("if (populated - zero < %d) return puts(\"broken: a written page is not listed\"), 1;",
           (kPages + kStride - 1) / kStride);
      broken("page %zu of %d was written, and PAGEMAP_SCAN %s", i, kPages,
             populated[i] ? "calls it the zero page" : "does not list it");
    }
  }
  step("if (populated - zero < %d) return puts(\"broken: a written page is not listed\"), 1;",
       (kPages + kStride - 1) / kStride);
}

static void scan_written(void) { scan_of_written(64); }
static void scan_in_steps(void) { scan_of_written(5); }

static void scan_discarded(void) {
  const int fd = open_it();
  unsigned char* p = every_third();
  need(k_madvise(p, kPages * page, MADV_DONTNEED) == 0, "madvise(MADV_DONTNEED)");
  step("uint64_t regions[3 * 64];");
  write_scan("populated", kPages, kPagePresent | kPageSwapped, 0, 64);
  const size_t count = scan(fd, p, kPages, kPagePresent | kPageSwapped, 0, 64, NULL);
  expect_true(count == 0, "populated == 0", "pages that were discarded are listed");
}

static int protect(unsigned char* p, size_t pages) {
  const int fd = k_userfaultfd();
  supported(fd >= 0, "userfaultfd");
  step("int faults = userfault(m0, %zu, %lu, %d);", pages * page, UFFD_WP_FEATURES, kRegisterWriteProtect);
  struct uffd_api api = {.api = 0xaa, .features = UFFD_WP_FEATURES};
  supported(k_ioctl(fd, UFFD_API, &api) == 0, "userfaultfd with asynchronous write protection");
  struct uffd_register area = {(uint64_t)(uintptr_t)p, pages * page, kRegisterWriteProtect, 0};
  supported(k_ioctl(fd, UFFD_REGISTER, &area) == 0, "ioctl(UFFDIO_REGISTER)");
  return fd;
}

static void protected_write(void) {
  const int fd = open_it();
  unsigned char* p = map_pages(kPages);
  fill(p, kPages / 2 * page, kPattern);
  protect(p, kPages);
  static bool written[kPages];
  step("uint64_t regions[3 * 64];");
  write_scan("before", kPages, kPageWritten, kScanProtect | kScanCheck, 64);
  scan(fd, p, kPages, kPageWritten, kScanProtect | kScanCheck, 64, NULL);
  step("(void)before, (void)faults;");
  step("for (int i = 0; i < %d; i += 7) m0[i * %zu] = 0x%02x;", kPages, page, kOther);
  for (size_t i = 0; i < kPages; i += 7) p[i * page] = kOther;
  write_scan("written", kPages, kPageWritten, kScanCheck, 64);
  scan(fd, p, kPages, kPageWritten, kScanCheck, 64, written);
  step("if (written < %d) return puts(\"broken: a written page is not listed\"), 1;", (kPages + 6) / 7);
  for (size_t i = 0; i < kPages; i += 7) {
    if (!written[i]) broken("page %zu of %d was written after it was protected, and is not listed", i, kPages);
  }
}

static void soft_dirty(void) {
  const int fd = open_it();
  unsigned char* p = written_pages(kPages);
  if ((k_pagemap_entry(fd, p) & PAGEMAP_SOFT_DIRTY) == 0)
    not_testable("soft-dirty bits are not kept (CONFIG_MEM_SOFT_DIRTY)");
  const int refs = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  need(refs >= 0 && write(refs, "4", 1) == 1, "writing /proc/self/clear_refs");
  step("int refs = open(\"/proc/self/clear_refs\", O_WRONLY);");
  step("if (write(refs, \"4\", 1) != 1) return 2;");
  step("for (int i = 0; i < %d; i += 7) m0[i * %zu] = 0x%02x;", kPages, page, kOther);
  for (size_t i = 0; i < kPages; i += 7) p[i * page] = kOther;
  step("for (int i = 0; i < %d; i += 7)", kPages);
  step("  if (!(entry(fd, m0 + i * %zu) >> 55 & 1)) return printf(\"broken: page %%d is not dirty\\n\", i), 1;", page);
  for (size_t i = 0; i < kPages; i += 7) {
    if ((k_pagemap_entry(fd, p + i * page) & PAGEMAP_SOFT_DIRTY) == 0) {
      broken("page %zu of %d was written, and is not soft-dirty", i, kPages);
    }
  }
}

const struct promise kPagemapPromises[] = {
    {"pagemap-written", "A page that was written is present or swapped in /proc/self/pagemap; others read as zeros.",
     "zerotax: harness/foundation/os/pagemap.cc before Linux 6.7, populated_bytes and redundant_zeroed_bytes; "
     "CRIU: should_dump_page",
     entry_written},
    {"pagemap-discarded", "A page that was discarded is neither present nor swapped in /proc/self/pagemap.",
     "zerotax: returned_bytes before Linux 6.7", entry_discarded},
    {"scan-written", "PAGEMAP_SCAN lists a page that was written as present or swapped, and never as the zero page.",
     "largecache: pagemap.cc, non_zero_runs; zerotax: harness/foundation/os/pagemap.cc; Wasmtime: PR 11372", scan_written},
    {"scan-steps", "A walk of PAGEMAP_SCAN that stopped for lack of room goes on where it ended, and misses no page.",
     "largecache: pagemap.cc, non_zero_runs (`walked`)", scan_in_steps},
    {"scan-discarded", "PAGEMAP_SCAN does not list pages that were discarded.",
     "zerotax: returned_bytes; largecache: adaptive/adaptive.cc, take_sample", scan_discarded},
    {"scan-protected", "With asynchronous write protection, PAGEMAP_SCAN lists each page that was written since.",
     "zerotax: harness/foundation/os/write_tracker.cc, inline stores", protected_write},
    {"soft-dirty", "A page that was written since soft-dirty bits were cleared is soft-dirty.",
     "CRIU: generate_iovs, incremental dumps", soft_dirty},
    {0, 0, 0, 0}};
