// Lies about /proc/self/pagemap, PAGEMAP_SCAN and userfaultfd.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"
#include "lies.h"

static bool is_entry(const struct call* c) { return c->number == SYS_pread64 && c->a[2] == 8; }
static char* page_of(const struct call* c) { return (char*)(c->a[3] / 8 * (long)page); }

static long entry_hides(const struct call* c) {
  const long result = truth(c);
  const struct known* memory = known_at(page_of(c));
  if (is_entry(c) && memory != NULL && page_of(c) == memory->begin + 9 * page) *(uint64_t*)c->a[1] &= ~(3UL << 62);
  return result;
}

static long entry_keeps(const struct call* c) {
  const long result = truth(c);
  const struct known* memory = known_at(page_of(c));
  if (is_entry(c) && memory != NULL && page_of(c) == memory->begin + 7 * page) *(uint64_t*)c->a[1] |= PAGEMAP_PRESENT;
  return result;
}

// A kernel that keeps soft-dirty bits only at first.
static long soft_dirty(const struct call* c) {
  const long result = truth(c);
  if (is_entry(c)) {
    if (lie_calls <= 4) {
      *(uint64_t*)c->a[1] |= PAGEMAP_SOFT_DIRTY;
    } else {
      *(uint64_t*)c->a[1] &= ~PAGEMAP_SOFT_DIRTY;
    }
  }
  return result;
}

static struct scan_request* scan_of(const struct call* c) {
  return c->number == SYS_ioctl && (unsigned long)c->a[1] == PAGEMAP_SCAN_REQUEST ? (struct scan_request*)c->a[2]
                                                                                  : NULL;
}

static long scan_hides(const struct call* c) {
  const long got = truth(c);
  const struct scan_request* scan = scan_of(c);
  if (scan == NULL || got < 1 || (scan->any_of & kPagePresent) == 0) return got;
  struct scan_region* first = (struct scan_region*)scan->regions;
  first->start += page;
  return got;
}

static long scan_zero(const struct call* c) {
  const struct scan_request* scan = scan_of(c);
  const long got = truth(c);
  if (scan == NULL || scan->any_of != kPageZero || got < 0 || scan->region_count < 64) return got;
  struct scan_region* first = (struct scan_region*)scan->regions;
  if (got == 0) {  // a kernel without a shared zero page
    *first = (struct scan_region){scan->start, scan->start + page, kPageZero};
    return 1;
  }
  first->start -= page;  // page 0 was written, page 1 was only read
  return got;
}

static long scan_skips(const struct call* c) {
  const long got = truth(c);
  struct scan_request* scan = scan_of(c);
  if (scan != NULL && got >= 0 && scan->walk_end + 4 * page < scan->end) scan->walk_end += 4 * page;
  return got;
}

static long scan_keeps(const struct call* c) {
  const long got = truth(c);
  struct scan_request* scan = scan_of(c);
  if (scan == NULL || got != 0 || (scan->any_of & kPagePresent) == 0) return got;
  *(struct scan_region*)scan->regions = (struct scan_region){scan->start, scan->start + page, kPagePresent};
  return 1;
}

static long scan_misses_writes(const struct call* c) {
  const long got = truth(c);
  const struct scan_request* scan = scan_of(c);
  return scan != NULL && scan->any_of == kPageWritten && got > 1 ? got - 1 : got;
}

static long zero_is_dirty(const struct call* c) {
  static char bytes[1 << 16];
  const long result = truth(c);
  if (c->number == SYS_ioctl && (unsigned long)c->a[1] == UFFD_ZEROPAGE && result == 0) {
    const struct uffd_zeropage* zero = (const struct uffd_zeropage*)c->a[2];
    memcpy(bytes, "stale", 5);  // NOLINT(bugprone-not-null-terminated-result): it is no string
    memcpy((char*)zero->start + 3 * page, bytes, page);
  }
  return result;
}

static long zero_over_page(const struct call* c) {
  const long result = truth(c);
  if (c->number == SYS_ioctl && (unsigned long)c->a[1] == UFFD_ZEROPAGE && result == -1 && errno == EEXIST) {
    const struct uffd_zeropage* zero = (const struct uffd_zeropage*)c->a[2];
    memset((char*)zero->start, 0, page);
    errno = EEXIST;
  }
  return result;
}

const struct lie kPagemapLies[] = {
    {"pagemap-hides", "pagemap hides a page that was written", "pagemap-written", entry_hides},
    {"pagemap-keeps", "pagemap has a page that was discarded", "pagemap-discarded", entry_keeps},
    {"soft-dirty", "soft-dirty bits are never set again", "soft-dirty", soft_dirty},
    {"scan-hides", "PAGEMAP_SCAN hides a page that was written", "scan-written scan-steps", scan_hides},
    {"scan-zero", "PAGEMAP_SCAN calls a page that was written the zero page", "scan-written", scan_zero},
    {"scan-skips", "PAGEMAP_SCAN stops later than it looked", "scan-steps", scan_skips},
    {"scan-keeps", "PAGEMAP_SCAN lists a page that was discarded", "scan-discarded", scan_keeps},
    {"scan-misses-writes", "PAGEMAP_SCAN misses a write", "scan-protected", scan_misses_writes},
    {"uffd-zero-dirty", "UFFDIO_ZEROPAGE brings in stale bytes", "uffd-zeropage", zero_is_dirty},
    {"uffd-zero-over", "UFFDIO_ZEROPAGE clears a page that is there", "uffd-zeropage-there", zero_over_page},
    {0, 0, 0, 0}};
