#define _GNU_SOURCE
#include "prove/process/watched_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "prove/process/own.h"
#include "prove/process/record.h"

/* From linux/fs.h of Linux 6.7, which Debian 12 lacks. */
struct page_range {
  uint64_t start;
  uint64_t end;
  uint64_t categories;
};
struct scan_arguments {
  uint64_t size;
  uint64_t flags;
  uint64_t start;
  uint64_t end;
  uint64_t walk_end;
  uint64_t vec;
  uint64_t vec_len;
  uint64_t max_pages;
  uint64_t category_inverted;
  uint64_t category_mask;
  uint64_t category_anyof_mask;
  uint64_t return_mask;
};
enum { kWritten = 1 << 1, kPresent = 1 << 3 };        /* PAGE_IS_WRITTEN, PAGE_IS_PRESENT */
enum { kProtect = 1 << 0, kCheckIsWatched = 1 << 1 }; /* PM_SCAN_WP_MATCHING, PM_SCAN_CHECK_WPASYNC */
enum { kRanges = 32 };

static const uint64_t kUnpopulatedToo = (uint64_t)1 << 13; /* UFFD_FEATURE_WP_UNPOPULATED */
static const uint64_t kAsynchronous = (uint64_t)1 << 15;   /* UFFD_FEATURE_WP_ASYNC */

static int faults = -1;
static int pagemap = -1;

void open_watched_pages(void) {
  struct uffdio_api api = {.api = UFFD_API, .features = kAsynchronous | kUnpopulatedToo};
  faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
  pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (faults >= 0 && pagemap >= 0 && ioctl(faults, UFFDIO_API, &api) == 0) return;
  head->why_unwatched = (uint32_t)errno;
  head->watches_pages = 0;
}

void close_watched_pages(void) { faults = -1; }

static struct scan_arguments scan_of(const char* block, uint64_t bytes) {
  const uint64_t page = page_bytes();
  const uint64_t start = ((uintptr_t)block + page - 1) / page * page;
  const uint64_t end = ((uintptr_t)block + bytes) / page * page;
  return (struct scan_arguments){
      .size = sizeof(struct scan_arguments), .start = start, .end = end > start ? end : start};
}

int watch_pages(const char* block, uint64_t bytes) {
  struct page_range ranges[kRanges];
  struct scan_arguments scan = scan_of(block, bytes);
  if (scan.start == scan.end || faults < 0) return 0;
  struct uffdio_register wanted = {.range = {scan.start, scan.end - scan.start}, .mode = UFFDIO_REGISTER_MODE_WP};
  if (ioctl(faults, UFFDIO_REGISTER, &wanted) != 0) return 0;
  scan.flags = kProtect | kCheckIsWatched;
  scan.category_mask = scan.return_mask = kWritten;
  scan.vec = (uint64_t)(uintptr_t)ranges;
  scan.vec_len = kRanges;
  while (scan.start < scan.end) {
    if (ioctl(pagemap, _IOWR('f', 16, struct scan_arguments), &scan) < 0) return 0;
    scan.start = scan.walk_end;
  }
  return 1;
}

uint64_t untouched_pages(const char* block, uint64_t bytes) {
  struct page_range ranges[kRanges];
  struct scan_arguments scan = scan_of(block, bytes);
  uint64_t sum = 0;
  scan.category_mask = kPresent | kWritten;
  scan.category_inverted = kWritten;
  scan.return_mask = kPresent;
  scan.vec = (uint64_t)(uintptr_t)ranges;
  scan.vec_len = kRanges;
  while (scan.start < scan.end) {
    const int found = ioctl(pagemap, _IOWR('f', 16, struct scan_arguments), &scan);
    if (found < 0) return sum;
    for (int i = 0; i < found; ++i) sum += (ranges[i].end - ranges[i].start) / page_bytes();
    scan.start = scan.walk_end;
  }
  return sum;
}
