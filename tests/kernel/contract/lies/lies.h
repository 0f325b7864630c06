// A kernel that tells one lie at a time. In a build for tests, the suite's system calls go through this kernel to the
// real one.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A system call on its way to the kernel.
struct call {
  long number;
  long a[6];
};

// Answers a system call with -1 and errno, or with a result.
typedef long (*teller)(const struct call* call);

struct lie {
  const char* name;
  const char* what;    // behavior of a kernel with this lie
  const char* breaks;  // all promises that the lie breaks
  teller tell;
};
// Tables of lies. Each table ends with a row without a name.
extern const struct lie kMappingLies[], kAdviceLies[], kFileLies[], kForkLies[], kPagemapLies[], kLimitLies[],
    kRaceLies[];

long truth(const struct call* call);
bool is_madvise(const struct call* call, int advice);
bool is_anonymous_mmap(const struct call* call, int sharing);  // also requires that the mapping is readable, writable
                                                               // and not MAP_FIXED
char* address_of(const struct call* call);
size_t bytes_of(const struct call* call);

// A mapping of the suite, as far as the suite's calls show it.
struct known {
  char* begin;
  size_t bytes;
  const char* protected_from;  // first byte of the last mprotect
  int prot, first_prot, flags, fd;
  bool was_protected, huge, guarded, freed;
};
struct known* known_at(const char* p);     // NULL if the address is not in a known mapping
struct known* each_known(unsigned index);  // NULL after the last mapping
extern bool lie_child, lie_forked;         // lie_child: this is a forked child; lie_forked: there was a fork
extern unsigned lie_calls;                 // number of the suite's calls so far, including this one
bool is_memfd(long fd);
bool is_limited(void);  // whether RLIMIT_AS is a single page
enum { kStale = 0x77 };
