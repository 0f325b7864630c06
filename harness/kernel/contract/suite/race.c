// Tests of promises while another thread is at work. A race ends after kTries tries, or after race_seconds.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

// Programs that show a broken promise. These programs are files of their own, because steps cannot describe two
// threads.
#define PROGRAM(name)                                                                                               \
  extern const char program_##name[];                                                                               \
  __asm__(".section .rodata\n.global program_" #name "\nprogram_" #name ":\n.incbin \"" CONTRACT_PROGRAMS "/" #name \
          ".c\"\n.byte 0\n.previous\n")
PROGRAM(dontneed_race);
PROGRAM(fault_race);
PROGRAM(fork_race);
PROGRAM(free_race);

static volatile uint64_t* words;  // memory that the other thread writes to
static atomic_ulong published;    // the last number that the other thread has written
static atomic_bool over;
static atomic_ulong lost;  // a number that the other thread wrote and did not find again; 0 if it found all numbers

static void start(pthread_t* thread, void* (*run)(void*), void* data) {
  prctl(PR_SET_TIMERSLACK, 1);  // makes sleeps last 1 µs, not 50 µs
  const int error = pthread_create(thread, NULL, run, data);
  if (error != 0) not_testable("no second thread: %s", error_name(error));
}

static bool time_is_over(double begin, uint64_t tries) {
  report->tries = tries;
  return tries >= kTries || now() - begin > race_seconds;
}

// Waits until the other thread has made progress, and is therefore running. If all CPUs are busy, only a sleep lets the
// other thread run. The end of the sleep interrupts the other thread at an arbitrary point.
static unsigned long wait_for_more(unsigned long than) {
  unsigned long number;
  for (unsigned spins = 0; (number = atomic_load(&published)) <= than; ++spins) {
    if (spins > 2000) usleep(1);
  }
  return number;
}

static void* count_up(void* data) {
  (void)data;
  for (unsigned long n = 1; !atomic_load(&over); ++n) {
    words[0] = n;
    atomic_store(&published, n);
  }
  return NULL;
}

static void dontneed(void) {
  report->race = program_dontneed_race;
  unsigned char* p = map_pages(1);
  words = (volatile uint64_t*)(void*)p;
  pthread_t writer;
  start(&writer, count_up, NULL);
  const double begin = now();
  unsigned long before = 0;
  for (uint64_t tries = 0; !time_is_over(begin, tries); ++tries) {
    for (size_t i = 64; i < page; i += 64) p[i] = kPattern;
    before = wait_for_more(before);
    supported(k_madvise(p, page, MADV_DONTNEED) == 0, "madvise(MADV_DONTNEED)");
    const uint64_t found = words[0];
    report->address = (uint64_t)(uintptr_t)p;
    if (found != 0 && found <= before) {
      broken("after MADV_DONTNEED, the number %llu is there, which was written before it (%lu was the last)",
             (unsigned long long)found, before);
    }
    expect(p + 8, page - 8, 0, "after MADV_DONTNEED, while another thread writes to the page");
  }
  kept("%s", "");
}

enum { kFaultPages = 64 };
static atomic_ulong turn, done;

static void* fault_too(void* data) {
  unsigned char* p = data;
  for (unsigned long at = 1;; ++at) {
    for (unsigned spins = 0; atomic_load(&turn) < at; ++spins) {
      if (atomic_load(&over)) return NULL;
      if (spins > 2000) usleep(1);
    }
    *(volatile uint64_t*)(void*)(p + (at % kFaultPages) * page + 8) = at;
    atomic_store(&done, at);
  }
}

static void fault(void) {
  report->race = program_fault_race;
  unsigned char* p = map_pages(kFaultPages);
  pthread_t other;
  start(&other, fault_too, p);
  const double begin = now();
  for (uint64_t tries = 0; !time_is_over(begin, tries); ++tries) {
    const unsigned long at = (unsigned long)tries + 1;
    if (at % kFaultPages == 0) {
      supported(k_madvise(p, kFaultPages * page, MADV_DONTNEED) == 0, "madvise(MADV_DONTNEED)");
    }
    volatile uint64_t* mine = (volatile uint64_t*)(void*)(p + (at % kFaultPages) * page);
    atomic_store(&turn, at);
    mine[0] = at;
    for (unsigned spins = 0; atomic_load(&done) < at; ++spins) {
      if (spins > 2000) usleep(1);
    }
    report->address = (uint64_t)(uintptr_t)mine;
    if (mine[0] != at || mine[1] != at) {
      broken("two threads wrote %lu to a fresh page at once; it has %llu and %llu", at, (unsigned long long)mine[0],
             (unsigned long long)mine[1]);
    }
    expect((const unsigned char*)p + (at % kFaultPages) * page + 16, page - 16, 0,
           "beside what two threads wrote to a fresh page");
  }
  kept("%s", "");
}

enum { kForkPages = 16 };

// Writes a number to each page in turn, and checks that the previous number is still there.
static void* write_all(void* data) {
  (void)data;
  // Leaves some CPU time for the children.
  setpriority(PRIO_PROCESS, 0, 19);
  const size_t step_words = page / sizeof(uint64_t);
  for (unsigned long n = 1; !atomic_load(&over); ++n) {
    for (size_t i = 0; i < kForkPages; ++i) {
      if (words[i * step_words] != n - 1) atomic_store(&lost, n - 1);
      words[i * step_words] = n;
    }
    atomic_store(&published, n);
  }
  return NULL;
}

// Checks that a child's pages do not change.
static _Noreturn void watch(void) {
  const size_t step_words = page / sizeof(uint64_t);
  uint64_t seen[kForkPages];
  for (size_t i = 0; i < kForkPages; ++i) seen[i] = words[i * step_words];
  for (int look = 0; look < 8; ++look) {
    for (size_t i = 0; i < kForkPages; ++i) {
      if (words[i * step_words] == seen[i]) continue;
      report->address = (uint64_t)(uintptr_t)&words[i * step_words];
      broken("a child saw %llu become %llu in its memory, to which the parent writes", (unsigned long long)seen[i],
             (unsigned long long)words[i * step_words]);
    }
  }
  _exit(0);
}

static void forked(void) {
  report->race = program_fork_race;
  words = (volatile uint64_t*)(void*)map_pages(kForkPages);
  pthread_t writer;
  start(&writer, write_all, NULL);
  const double begin = now();
  unsigned long before = 0;
  for (uint64_t tries = 0; !time_is_over(begin, tries); ++tries) {
    before = wait_for_more(before);
    const pid_t pid = k_fork();
    need(pid >= 0, "fork");
    if (pid == 0) watch();
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (report->verdict != kNotDone) _exit(1);
    need(status == 0, "a forked child");
    if (atomic_load(&lost) != 0) {
      broken("the parent wrote %lu to a page while it forked, and did not find it again", atomic_load(&lost));
    }
  }
  kept("%s", "");
}

// Writes a number, and reads it back at once. The result must be this number, or zero if the kernel reclaimed the page,
// but never an earlier number.
static void* write_and_look(void* data) {
  (void)data;
  for (unsigned long n = 1; !atomic_load(&over); ++n) {
    words[0] = n;
    for (int look = 0; look < 16; ++look) {
      const uint64_t found = words[0];
      if (found != n && found != 0) atomic_store(&lost, n);
    }
    atomic_store(&published, n);
  }
  return NULL;
}

static void freed(void) {
  report->race = program_free_race;
  unsigned char* p = map_pages(1);
  words = (volatile uint64_t*)(void*)p;
  words[0] = 0;
  supported(k_madvise(p, page, kFree) == 0, "madvise(MADV_FREE)");
  pthread_t writer;
  start(&writer, write_and_look, NULL);
  const double begin = now();
  unsigned long before = 0;
  for (uint64_t tries = 0; !time_is_over(begin, tries); ++tries) {
    before = wait_for_more(before);
    supported(k_madvise(p, page, kFree) == 0, "madvise(MADV_FREE)");
    k_madvise(p, page, kPageOut);
    report->address = (uint64_t)(uintptr_t)p;
    if (atomic_load(&lost) != 0) {
      broken("a thread wrote %lu to a page that another one frees, and found an older number", atomic_load(&lost));
    }
  }
  kept("%s", "");
}

const struct promise kRacePromises[] = {
    {"dontneed-race", "MADV_DONTNEED leaves nothing that was written before it, while another thread writes.",
     "jemalloc, mimalloc, largecache: a purge beside threads that still run", dontneed},
    {"fault-race", "Two threads that first write to one page at once both find what they wrote, and zeros beside it.",
     "every program with threads", fault},
    {"fork-race", "A child's memory does not change while threads of the parent write, and they lose no write.",
     "Redis: BGSAVE with threads; zerotax: cases/fork_snapshot", forked},
    {"free-race", "While one thread frees a page by MADV_FREE, a thread that writes to it finds no older content.",
     "programs whose threads share such pages; largecache: free.cc, recache, where no other thread has the block",
     freed},
    {0, 0, 0, 0}};
