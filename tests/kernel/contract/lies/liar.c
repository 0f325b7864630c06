#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"
#include "lies.h"

static const struct lie* const kTables[] = {kMappingLies, kAdviceLies, kFileLies, kForkLies,
                                            kPagemapLies, kLimitLies,  kRaceLies};
static const struct lie* chosen;
static struct known known[64];
static unsigned known_count;
static long memfds[8];
static unsigned memfd_count;
bool lie_child, lie_forked;
unsigned lie_calls;
unsigned char* bss_of_contract(void);
void lie_about_fork(const char* name);

long truth(const struct call* call) {
  return syscall(call->number, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4], call->a[5]);
}

bool is_madvise(const struct call* call, int advice) { return call->number == SYS_madvise && call->a[2] == advice; }
char* address_of(const struct call* call) { return (char*)call->a[0]; }
size_t bytes_of(const struct call* call) { return (size_t)call->a[1]; }

bool is_anonymous_mmap(const struct call* call, int sharing) {
  return call->number == SYS_mmap && (call->a[3] & MAP_TYPE) == sharing && (call->a[3] & MAP_ANONYMOUS) != 0 &&
         (call->a[3] & MAP_FIXED) == 0 && call->a[2] == (PROT_READ | PROT_WRITE);
}

struct known* each_known(unsigned index) {
  return index < known_count ? &known[index] : NULL;
}

struct known* known_at(const char* p) {
  for (unsigned i = known_count; i-- > 0;) {
    if (p >= known[i].begin && p < known[i].begin + known[i].bytes) return &known[i];
  }
  return NULL;
}

bool is_memfd(long fd) {
  for (unsigned i = 0; i < memfd_count; ++i) {
    if (memfds[i] == fd) return true;
  }
  return false;
}

bool is_limited(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == 4096;
}

// Records a call after it was made, so that a lie sees the state before its call.
static void learn(const struct call* call, long result) {
  if (result == -1) return;
  if (call->number == SYS_mmap && known_count < 64) {
    known[known_count++] = (struct known){.begin = (char*)result,
                                          .bytes = bytes_of(call),
                                          .prot = (int)call->a[2],
                                          .first_prot = (int)call->a[2],
                                          .flags = (int)call->a[3],
                                          .fd = (int)call->a[4]};
  }
  if (call->number == SYS_memfd_create && memfd_count < 8) memfds[memfd_count++] = result;
  struct known* memory = known_at(address_of(call));
  if (memory == NULL) return;
  if (call->number == SYS_mprotect) {
    memory->was_protected = call->a[2] == PROT_NONE;
    memory->prot = (int)call->a[2];
    memory->protected_from = address_of(call);
  }
  if (is_madvise(call, kCollapse)) memory->huge = true;
  if (is_madvise(call, kGuardInstall)) memory->guarded = true;
  if (is_madvise(call, kFree)) memory->freed = true;
}

long lying_kernel(long number, long a, long b, long c, long d, long e, long f) {
  const struct call call = {number, {a, b, c, d, e, f}};
  ++lie_calls;
  const long result = chosen != NULL && chosen->tell != NULL ? chosen->tell(&call) : truth(&call);
  learn(&call, result);
  return result;
}

// "hang" is a call that never returns, and "slow" one that takes a millisecond. These two lies are not in a table,
// because tests of all lies would have to wait for every promise that uses such a call.
static long never(const struct call* call) {
  while (is_madvise(call, MADV_DONTNEED)) pause();
  return truth(call);
}
static long late(const struct call* call) {
  if (call->number == SYS_mprotect) usleep(1000);
  return truth(call);
}
static const struct lie kHang = {.name = "hang", .tell = never};
static const struct lie kSlow = {.name = "slow", .tell = late};

int choose_lie(const char* name) {
  if (strcmp(name, kHang.name) == 0) chosen = &kHang;
  if (strcmp(name, kSlow.name) == 0) chosen = &kSlow;
  for (size_t t = 0; t < sizeof kTables / sizeof kTables[0]; ++t) {
    for (const struct lie* lie = kTables[t]; lie->name != NULL; ++lie) {
      if (strcmp(lie->name, name) == 0) chosen = lie;
    }
  }
  return chosen != NULL;
}

void list_lies(void) {
  for (size_t t = 0; t < sizeof kTables / sizeof kTables[0]; ++t) {
    for (const struct lie* lie = kTables[t]; lie->name != NULL; ++lie) {
      printf("%s\t%s\t%s\n", lie->name, lie->breaks, lie->what);
    }
  }
}

void lie_at_start(void) {
  if (chosen != NULL && strcmp(chosen->name, "bss-dirty") == 0) bss_of_contract()[70000] = kStale;
}

void lie_before_fork(void) {
  lie_forked = true;
  if (chosen != NULL) lie_about_fork(chosen->name);
}

void lie_in_child(void) { lie_child = true; }
