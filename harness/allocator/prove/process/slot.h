#pragma once

/* A process that performs one episode after another, each in a new process, with a record of its own. */

#include <sys/types.h>

#include "prove/process/record.h"

enum { kMostSlots = 8, kPath = 4096 };

/* How the process of an episode ended. */
enum ending { kRuns, kEnded, kHung, kLate, kTookMemory };

/* The state of an episode's threads, in nanoseconds. */
struct thread_times {
  uint64_t at;
  uint64_t used;    /* of CPU */
  uint64_t delayed; /* waited for a CPU */
};

struct slot {
  struct head* head;
  char path[kPath];
  pid_t process; /* 0: none */
  int handle;    /* pidfd */
  struct thread_times then;
  unsigned long long operations; /* at `then` */
  int32_t child;                 /* of the episode's process at `then` */
  uint64_t resident;             /* bytes at the last look */
  int is_stuck;                  /* whether the last operation took too long, other than by waiting for a CPU */
  unsigned strays;               /* processes that episodes left behind */
};

/* Starts the process of the episode that the head describes. `preload` and `api` may be NULL. */
void start_slot(struct slot* slot, const char* preload, const char* api);
/* Looks at the process, and ends it if it hangs, is late, or takes too much memory. A process hangs if it performs no
 * operation for 8 s, although it had the CPU or slept. Waiting for a CPU is not hanging. It is late 5 s after the
 * deadline. Enters the status of an ended process. */
enum ending look_at(struct slot* slot, int* status);
/* Ends the process, if there is one. */
void end_slot(struct slot* slot);
/* Returns the number of operations of all episodes. */
unsigned long long operations_of(const struct head* of);
/* Ends all processes that episodes left behind in sessions of their own. Returns their number. */
unsigned end_strays(void);
