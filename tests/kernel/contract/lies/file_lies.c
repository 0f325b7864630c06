// Lies about ftruncate and fallocate.
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"
#include "lies.h"

static long sparse(const struct call* c) {
  const long result = truth(c);
  const char stale = kStale;
  if (c->number == SYS_ftruncate && c->a[1] == 64 * (long)page &&
      pwrite((int)c->a[0], &stale, 1, (off_t)(20 * page)) != 1) {
    return -1;
  }
  return result;
}

static long punch_nothing(const struct call* c) { return c->number == SYS_fallocate ? 0 : truth(c); }

static long punch_pages(const struct call* c) {
  if (c->number != SYS_fallocate) return truth(c);
  struct call less = *c;
  const long end = (c->a[2] + c->a[3]) / (long)page * (long)page;
  less.a[2] = (c->a[2] + (long)page - 1) / (long)page * (long)page;
  less.a[3] = end - less.a[2];
  return truth(&less);
}

static long punch_private(const struct call* c) {
  const long result = truth(c);
  const struct known* memory = NULL;
  for (unsigned i = 0; c->number == SYS_fallocate && (memory = each_known(i)) != NULL; ++i) {
    if (memory->fd >= 0 && (memory->flags & MAP_TYPE) == MAP_PRIVATE)
      madvise(memory->begin, memory->bytes, MADV_DONTNEED);
  }
  return result;
}

static long punch_tmpfs(const struct call* c) {
  return c->number == SYS_fallocate && !is_memfd(c->a[0]) ? 0 : truth(c);
}

// If a file is cut off within a page, the old bytes after the cut stay in this page.
static long truncate_keeps(const struct call* c) {
  static char rest[1 << 16];
  static long cut;
  if (c->number != SYS_ftruncate) return truth(c);
  const long odd = c->a[1] % (long)page;
  if (odd != 0) {
    cut = c->a[1];
    if (pread((int)c->a[0], rest, page - (size_t)odd, cut) < 0) return -1;
    return truth(c);
  }
  const long result = truth(c);
  if (cut != 0 && pwrite((int)c->a[0], rest, page - (size_t)(cut % (long)page), cut) < 0) return -1;
  return result;
}

const struct lie kFileLies[] = {
    {"sparse-dirty", "a hole of a new file has a stale byte", "memfd-sparse", sparse},
    {"punch-nothing", "punching holes has no effect", "punch-hole punch-odd punch-private tmpfs-holes", punch_nothing},
    {"punch-pages", "holes are made of whole pages only", "punch-odd", punch_pages},
    {"punch-private", "a hole takes private copies, too", "punch-private", punch_private},
    {"punch-tmpfs", "punching holes has no effect on a file with a name", "tmpfs-holes", punch_tmpfs},
    {"truncate-keeps", "the end of a page of a file stays when it is cut off", "memfd-regrown", truncate_keeps},
    {0, 0, 0, 0}};
