// A kernel that lies, one lie at a time: what stands between the suite and the kernel in a build for tests.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A system call on its way to the kernel.
struct call {
  long number;
  long a[6];
};

// What it answers: -1 and errno, or a result.
typedef long (*teller)(const struct call* call);

struct lie {
  const char* name;
  const char* what;    // what such a kernel does
  const char* breaks;  // the promises that it breaks, all of them
  teller tell;
};
// Tables, each ended by a row without a name.
extern const struct lie kMappingLies[], kAdviceLies[], kFileLies[], kForkLies[], kPagemapLies[], kLimitLies[],
    kRaceLies[];

long truth(const struct call* call);
bool is_madvise(const struct call* call, int advice);
bool is_anonymous_mmap(const struct call* call, int sharing);  // readable, writable, not MAP_FIXED
char* address_of(const struct call* call);
size_t bytes_of(const struct call* call);

// What is known of the suite's memory.
struct known {
  char* begin;
  size_t bytes;
  const char* protected_from;  // by the last mprotect
  int prot, first_prot, flags, fd;
  bool was_protected, huge, guarded, freed;
};
struct known* known_at(const char* p);     // NULL: nothing
struct known* each_known(unsigned index);  // NULL: no more
extern bool lie_child, lie_forked;         // whether this is a forked child; whether there was a fork
extern unsigned lie_calls;                 // of the suite so far, this one included
bool is_memfd(long fd);
bool is_limited(void);  // whether RLIMIT_AS is a page
enum { kStale = 0x77 };
