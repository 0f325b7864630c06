// Lies about fork: memory that should be copied is shared.
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"
#include "lies.h"

static bool all_zero(const char* p, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    if (p[i] != 0) return false;
  }
  return true;
}

// Replaces private memory with shared memory that has the same bytes.
static void share(const struct known* memory) {
  static char bytes[4 << 20];
  if (memory->fd >= 0 || (memory->flags & MAP_TYPE) != MAP_PRIVATE || memory->prot != (PROT_READ | PROT_WRITE) ||
      memory->bytes > sizeof bytes) {
    return;
  }
  memcpy(bytes, memory->begin, memory->bytes);
  (void)mmap(memory->begin, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memcpy(memory->begin, bytes, memory->bytes);
}

void lie_about_fork(const char* name) {
  const bool all = strcmp(name, "fork-shares") == 0;
  const bool untouched = strcmp(name, "fork-shares-zeros") == 0;
  const bool moving = strcmp(name, "fork-shares-written") == 0;
  for (unsigned i = 0; (all || untouched || moving) && each_known(i) != NULL; ++i) {
    const struct known* memory = each_known(i);
    if (msync(memory->begin, memory->bytes, MS_ASYNC) != 0) continue;  // no longer mapped
    if (moving && memory->begin[0] == (char)kPattern) continue;        // no thread has written to this memory
    if (untouched && !all_zero(memory->begin, memory->bytes)) continue;
    share(memory);
  }
  for (unsigned i = 0; strcmp(name, "thp-fork") == 0 && each_known(i) != NULL; ++i) {
    if (!each_known(i)->huge) continue;
    struct known part = *each_known(i);
    while (part.bytes > 0 && part.begin[0] == 0) part.begin += page, part.bytes -= page;
    part.bytes = page / 8 * page;
    share(&part);
  }
}

static long child_maps(const struct call* c) {
  const long p = truth(c);
  if (lie_child && is_anonymous_mmap(c, MAP_PRIVATE)) ((char*)p)[100] = kStale;
  return p;
}

const struct lie kForkLies[] = {
    {"fork-shares", "fork shares memory instead of copying it",
     "fork-child-write fork-parent-write fork-untouched dontneed-child dontneed-parent wipe-on-fork fork-race", NULL},
    {"fork-shares-zeros", "fork shares pages that nobody wrote", "fork-untouched", NULL},
    {"fork-shares-written", "fork shares pages that a thread writes to", "fork-untouched fork-race", NULL},
    {"thp-fork", "fork shares huge pages", "thp-fork", NULL},
    {"child-dirty", "a fresh mapping of a child has a stale byte", "fork-fresh", child_maps},
    {0, 0, 0, 0}};
