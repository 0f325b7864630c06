#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "replay/process/prepared.h"
#include "replay/process/replay_calls.h"

/* A wait is longer than a pause, because the observer needs 300 ms without a running thread. */
enum { kUnit_ns = 65536, kSecond_ns = 1000000000, kWait_ns = 400000000 };

typedef int (*clock_reader)(clockid_t clock, struct timespec* now);

static clock_reader real_clock;
static int64_t began_ns;
static atomic_ullong passed; /* units */
static atomic_ullong reads;
static atomic_ullong pauses;
static uint64_t wanted_pause;
static int follows_recording;
static _Thread_local int in_call;

static int read_real(clockid_t clock, struct timespec* now) {
  return real_clock != NULL ? real_clock(clock, now) : (int)syscall(SYS_clock_gettime, clock, now);
}

static int64_t monotonic_ns(void) {
  struct timespec now;
  read_real(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * kSecond_ns + now.tv_nsec;
}

void begin_time(void) {
  /* POSIX recommends this conversion, because ISO C has no conversion from void* to a pointer to a function. */
  *(void**)&real_clock = dlsym(RTLD_NEXT, "clock_gettime");
  began_ns = monotonic_ns();
}

void wait_in_pause(uint64_t number) { wanted_pause = number; }

void time_passed(uint64_t units) {
  passed += units;
  if (units < kPauseUnits || ++pauses != wanted_pause) return;
  struct timespec left = {0, kWait_ns};
  while (nanosleep(&left, &left) != 0) {
  }
}

void follow_recorded_time(void) { follows_recording = 1; }

void begin_call(void) { in_call = 1; }

void end_call(void) { in_call = 0; }

static int is_of_cpu_time(clockid_t clock) {
  return clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

/* Replaces the C library's function for all libraries, because functions of the executable are found first. */
int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = read_real(clock, now);
  if (result != 0 || !in_call || is_of_cpu_time(clock)) return result;
  if (!follows_recording) return result;
  /* Each read adds a nanosecond, so that a loop that waits for the clock ends. */
  const int64_t recorded_ns = (int64_t)passed * kUnit_ns + (int64_t)++reads;
  const int64_t ns = (int64_t)now->tv_sec * kSecond_ns + now->tv_nsec + recorded_ns - (monotonic_ns() - began_ns);
  now->tv_sec = ns / kSecond_ns;
  now->tv_nsec = ns % kSecond_ns;
  return result;
}
