// Parts for tests of promises. A test is a function that takes steps: it maps and fills memory, makes system calls, and
// states what it expects. Each step is also recorded as a line of C, so that a broken promise comes with a program that
// shows it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum verdict { kNotDone, kKept, kBroken, kUnsupported, kNotTestable };

struct promise {
  const char* id;
  const char* statement;
  const char* relied_on_by;  // code that relies on the promise, as "program: function; program: function"
  void (*test)(void);
};

// A group of promises. The table ends with a row without an id.
struct family {
  const char* name;
  const struct promise* promises;
};
extern const struct promise kMapPromises[], kBrkPromises[], kMremapPromises[], kDontNeedPromises[], kFreePromises[],
    kFilePromises[], kPopulatePromises[], kHugePromises[], kMovePromises[], kForkPromises[], kPagemapPromises[],
    kUserfaultPromises[], kLimitPromises[], kRacePromises[];

// The result of a test, in memory that the runner shares with the child that runs the test.
struct report {
  enum verdict verdict;
  int error;             // errno of the unsupported call
  char detail[512];      // the observation, a sentence
  char last_step[160];   // the step that was under way, if the test crashed
  uint32_t steps_taken;  // number of steps since the test began
  uint64_t address;      // address of the first wrong byte
  uint64_t offset;       // offset of the first wrong byte in the examined range
  uint64_t looked_at;    // bytes
  unsigned char found[16];
  uint32_t found_bytes;  // number of bytes in `found`; 0 if nothing was read
  int expected;          // the expected byte; -1 if there is none
  uint64_t tries;        // tries of a race; 0 if there is no race
  double seconds;        // duration of the test
  const char* race;      // the program of a race, which replaces the steps
  uint32_t helpers;      // the helpers that the program needs
  char cgroup[128];      // the cgroup that the test made; the runner removes it
  uint32_t used[2];
  char steps[2][6000];  // steps of the process, and of its child
};
extern struct report* report;

extern size_t page;          // bytes
extern double race_seconds;  // a race ends after this time
enum { kTries = 10000 };     // a race also ends after this many tries
enum { kPattern = 0xa5, kOther = 0x5a };

// --- Verdicts. Each of these functions ends the process.
_Noreturn void kept(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void broken(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void unsupported(int error, const char* what);
_Noreturn void not_testable(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Requires a precondition of the test. If the precondition failed, the promise is not testable here.
void need(bool done, const char* what);
// Requires the call that the promise is about. The verdict is unsupported if the kernel does not have the call (ENOSYS,
// EINVAL, EOPNOTSUPP, ENOTTY), and not testable if the process is not permitted to make the call.
void supported(bool done, const char* what);
const char* error_name(int error);

// --- Memory. The program writes an address `p + n` relative to the mapping, as in "m0 + 4096".
void fill(void* p, size_t bytes, int byte);
void set_byte(void* p, int byte);
// Expects every byte to be `byte`; otherwise the promise is broken. `what` ends the sentence, as in "... after the
// fork".
void expect(const void* p, size_t bytes, int byte, const char* what);
// Expects each page to have all of its old bytes, or to be all zero.
void expect_old_or_zero(const void* p, size_t bytes, int old, const char* what);
// Expects a condition to hold. `condition` is the condition's C text in the program.
void expect_true(bool holds, const char* condition, const char* format, ...) __attribute__((format(printf, 3, 4)));
// Expects the last call to have failed with this error.
void expect_error(bool failed, int error, const char* name, const char* what);
// Reads one byte of each page.
void touch_by_reading(const void* p, size_t bytes);

// --- System calls, which report errors as libc does: they return -1, and errno has the error.
void* k_mmap(void* at, size_t bytes, int prot, int flags, int fd, off_t offset);
int k_munmap(void* p, size_t bytes);
void* k_mremap(void* p, size_t old_bytes, size_t new_bytes, int flags, void* to);
int k_madvise(void* p, size_t bytes, int advice);
int k_mprotect(void* p, size_t bytes, int prot);
int k_mlock(void* p, size_t bytes);
void* k_brk(void* to);  // returns the new break
int k_memfd(void);
int k_truncate(int fd, off_t bytes);
int k_punch(int fd, off_t offset, off_t bytes);
ssize_t k_pread(int fd, void* to, size_t bytes, off_t offset);
ssize_t k_pwrite(int fd, const void* from, size_t bytes, off_t offset);
int k_limit_address_space(bool limited);
// Puts the process into a cgroup of its own with this memory limit. Returns false if no cgroup can be made.
bool k_join_cgroup(size_t bytes);
long k_ioctl(int fd, unsigned long request, void* argument);
int k_userfaultfd(void);
int k_open_pagemap(void);
uint64_t k_pagemap_entry(int fd, const void* p);
pid_t k_fork(void);

// Maps private, anonymous, readable and writable memory.
unsigned char* map_pages(size_t pages);
// Maps private, anonymous, readable and writable memory, and fills it with kPattern.
unsigned char* written_pages(size_t pages);
// Begins a new program without the earlier steps.
void begin_program(void);
// Switches the recording of steps on or off. The steps of a loop are not recorded one by one.
void write_steps(bool on);
// Notes the next step, so that the report can name a step that hangs or crashes.
void note_step(const char* line);
// Records a step as a line of C.
void step(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Returns an address in the program's words, such as "m0 + 4096". The text stays valid until the eighth call after this
// one.
const char* place(const void* p);
// Gives a name to a mapping that no wrapper returned.
void name_memory(void* p, size_t bytes);

// Runs `child` in a child process, and waits for its end. `meanwhile` (or NULL) runs in the parent after the fork,
// before the child takes its first step.
void in_child(void (*child)(void* data), void (*meanwhile)(void* data), void* data);

// Helper functions that a program needs.
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

// The number at the beginning of a kernel file; -1 if there is none.
long number_in(const char* path);

double now(void);  // seconds, CLOCK_MONOTONIC

// --- Output, as text or as JSON.
// Prints a line for a promise, and a second line for the observation. Without a report, prints the promise's statement.
void print_line(const char* family, const struct promise* promise, const struct report* found);
// Prints the first line of the results as JSON: the suite, and the system that it runs on.
void print_head(unsigned promises);
// Prints a promise as one object on one line. Without a report, prints only the promise, without a verdict.
void print_json(const char* family, const struct promise* promise, const struct report* found);
void print_summary(const unsigned* counts);
