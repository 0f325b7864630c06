// Lies about calls that fail for lack of memory.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"
#include "lies.h"

static long fails(const struct call* c, long number) {
  const long result = truth(c);
  const struct known* memory = each_known(0);
  if (c->number == number && result == -1 && errno == ENOMEM && memory != NULL) {
    memset(memory->begin, 0, page);
    errno = ENOMEM;
  }
  return result;
}
static long map(const struct call* c) { return fails(c, SYS_mmap); }
static long remap(const struct call* c) { return fails(c, SYS_mremap); }

static long heap(const struct call* c) {
  const long end = truth(c);
  return c->number == SYS_brk && c->a[0] != 0 ? c->a[0] : end;
}

static long discard(const struct call* c) { return is_madvise(c, MADV_DONTNEED) && is_limited() ? 0 : truth(c); }

static long mappings(const struct call* c) {
  const long result = truth(c);
  if (c->number == SYS_mprotect && result == -1 && bytes_of(c) == page) errno = EAGAIN;
  return result;
}

static long commits(const struct call* c) {
  const long result = truth(c);
  if (c->number == SYS_mprotect && result == -1 && bytes_of(c) >> 28 != 0) {
    memset(address_of(c), 0, page);
    errno = ENOMEM;
  }
  return result;
}

static long pressure(const struct call* c) {
  const long result = truth(c);
  if (is_madvise(c, kFree) && bytes_of(c) == (size_t)16 << 20) each_known(0)->begin[5] = 0;
  return result;
}

const struct lie kLimitLies[] = {
    {"enomem-mmap", "an mmap that fails clears other memory", "enomem-mmap", map},
    {"enomem-mremap", "an mremap that fails clears what it should lengthen", "enomem-mremap", remap},
    {"enomem-brk", "brk says that it moved, and did not", "enomem-brk", heap},
    {"enomem-dontneed", "MADV_DONTNEED under a limit succeeds without effect", "enomem-dontneed", discard},
    {"enomem-mappings", "too many mappings are EAGAIN", "enomem-mappings", mappings},
    {"enomem-commit", "an mprotect that fails clears what it should make writable", "enomem-commit", commits},
    {"cgroup-pressure", "reclaim under a limit takes what was not given up", "cgroup-pressure", pressure},
    {0, 0, 0, 0}};
