#pragma once

/* A slot performs one episode after another, each in a new process. Each slot has its own record. */

#include <sys/types.h>

#include "prove/process/record.h"

enum { kMostSlots = 8, kPath = 4096 };

/* How the process of an episode ended. */
enum ending { kRuns, kEnded, kHung, kLate, kTookMemory, kForked };

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
  uint64_t resident;             /* resident bytes at the last check */
  int is_stuck;                  /* whether the last operation took too long, other than by waiting for a CPU */
  unsigned strays;               /* processes that episodes left behind */
  unsigned long tasks;           /* tasks on the machine at the last reading of /proc */
};

/* Makes episodes start as this program was started: by the kernel, or by a dynamic loader with options, as for a
 * library that needs a newer C library. `self` is the first word of main. */
void note_start(const char* self);
/* Starts the process of the episode that the head describes. `preload` and `api` may be NULL. */
void start_slot(struct slot* slot, const char* preload, const char* api);
/* Checks the process, and ends a process that hangs, is late, takes too much memory, or starts processes without end. A
 * process hangs if it performs no operation for 8 s, without the time in which it waits for a CPU. A process is late 5
 * s after the deadline. Enters the status of an ended process. */
enum ending look_at(struct slot* slot, int* status);
/* Ends the slot's process, if a process is running. */
void end_slot(struct slot* slot);
/* Returns the number of operations of all episodes. */
unsigned long long operations_of(const struct head* of);
/* Ends all processes that episodes left behind in sessions of their own. Returns their number. */
unsigned end_strays(void);
