// The parts of the tests of promises. A test is a function that takes steps: it maps, fills, asks the kernel, and
// says what it expects. Each step is also written down as a line of C, so that a broken promise comes with the program
// that shows it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum verdict { kNotDone, kKept, kBroken, kUnsupported, kNotTestable };

struct promise {
  const char* id;
  const char* statement;
  const char* relied_on_by;  // "who: where; who: where"
  void (*test)(void);
};

// One table for each family, ended by a row without an id.
struct family {
  const char* name;
  const struct promise* promises;
};
extern const struct promise kMapPromises[], kBrkPromises[], kMremapPromises[], kDontNeedPromises[], kFreePromises[],
    kFilePromises[], kPopulatePromises[], kHugePromises[], kMovePromises[], kForkPromises[], kPagemapPromises[],
    kUserfaultPromises[], kLimitPromises[], kRacePromises[];

// What a test found, in memory that the runner shares with the child that runs it.
struct report {
  enum verdict verdict;
  int error;             // errno of what is unsupported
  char detail[512];      // a sentence
  char last_step[160];   // what was being done when it crashed
  uint32_t steps_taken;  // since the test began
  uint64_t address;      // of the first wrong byte
  uint64_t offset;       // of it in what was looked at
  uint64_t looked_at;    // bytes
  unsigned char found[16];
  uint32_t found_bytes;  // 0: nothing was read
  int expected;          // a byte; -1: none
  uint64_t tries;        // of a race; 0: no race
  double seconds;        // that it took
  const char* race;      // the program of a race, instead of the steps
  uint32_t helpers;      // what the program needs besides
  char cgroup[128];      // that the test made; the runner removes it
  uint32_t used[2];
  char steps[2][6000];  // of the process, and of its child
};
extern struct report* report;

extern size_t page;          // bytes
extern double race_seconds;  // a race ends after so many
enum { kTries = 10000 };     // or so many tries
enum { kPattern = 0xa5, kOther = 0x5a };

// --- Verdicts. Each ends the process.
_Noreturn void kept(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void broken(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void unsupported(int error, const char* what);
_Noreturn void not_testable(const char* format, ...) __attribute__((format(printf, 1, 2)));
// A step that the test needs, but which is not what is promised: not testable here if it failed.
void need(bool done, const char* what);
// The call that is promised something about: unsupported where the kernel does not have it (ENOSYS, EINVAL,
// EOPNOTSUPP, ENOTTY), not testable where it may not be used.
void supported(bool done, const char* what);
const char* error_name(int error);

// --- Memory. `p + n` is written into the program as it was mapped: "m0 + 4096".
void fill(void* p, size_t bytes, int byte);
void set_byte(void* p, int byte);
// Every byte, or the promise is broken; `what` ends "... after the fork".
void expect(const void* p, size_t bytes, int byte, const char* what);
// Each page has all of its old bytes, or is all zero.
void expect_old_or_zero(const void* p, size_t bytes, int old, const char* what);
// A condition, as C has it in the program.
void expect_true(bool holds, const char* condition, const char* format, ...) __attribute__((format(printf, 3, 4)));
// The last call failed, with this error.
void expect_error(bool failed, int error, const char* name, const char* what);
// Reads one byte of each page.
void touch_by_reading(const void* p, size_t bytes);

// --- System calls, as libc has them: -1 and errno.
void* k_mmap(void* at, size_t bytes, int prot, int flags, int fd, off_t offset);
int k_munmap(void* p, size_t bytes);
void* k_mremap(void* p, size_t old_bytes, size_t new_bytes, int flags, void* to);
int k_madvise(void* p, size_t bytes, int advice);
int k_mprotect(void* p, size_t bytes, int prot);
int k_mlock(void* p, size_t bytes);
void* k_brk(void* to);  // the break that the process has then
int k_memfd(void);
int k_truncate(int fd, off_t bytes);
int k_punch(int fd, off_t offset, off_t bytes);
ssize_t k_pread(int fd, void* to, size_t bytes, off_t offset);
ssize_t k_pwrite(int fd, const void* from, size_t bytes, off_t offset);
int k_limit_address_space(bool limited);
// Puts the process into a cgroup of its own with so much memory; false if none may be made.
bool k_join_cgroup(size_t bytes);
long k_ioctl(int fd, unsigned long request, void* argument);
int k_userfaultfd(void);
int k_open_pagemap(void);
uint64_t k_pagemap_entry(int fd, const void* p);
pid_t k_fork(void);

// Private, anonymous, readable and writable memory.
unsigned char* map_pages(size_t pages);
// The same, filled with kPattern.
unsigned char* written_pages(size_t pages);
// The same, in a program of its own from here on: what came before is forgotten.
void begin_program(void);
// Steps of a loop are not written down one by one.
void write_steps(bool on);
// What is done next: for whoever finds that it hangs, or crashes.
void note_step(const char* line);
// A line of the program, in C.
void step(const char* format, ...) __attribute__((format(printf, 1, 2)));
// "m0 + 4096"; valid until the eighth next call.
const char* place(const void* p);
// Gives the next mapping's name to an address that no wrapper returned.
void name_memory(void* p, size_t bytes);

// Runs `child` in a child, and waits for its end. `meanwhile` happens in the parent after the fork, and before the
// child takes its first step; it may be null.
void in_child(void (*child)(void* data), void (*meanwhile)(void* data), void* data);

// Helpers that a program needs.
enum {
  kNeedsPagemap = 1,
  kNeedsScan = 2,
  kNeedsUserfault = 4,
  kNeedsEither = 8,
  kNeedsLimit = 16,
  kNeedsPipe = 32,
  kNeedsCgroup = 64
};
// Writes the program; returns its length.
size_t write_program(const struct report* from, const struct promise* promise, char* to, size_t most);

// The number that a file of the kernel begins with; -1 if there is none.
long number_in(const char* path);

double now(void);  // seconds, CLOCK_MONOTONIC
