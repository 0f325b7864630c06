// A library that is preloaded into benchmarks beside the recorder, and marks where a timed loop begins and ends. Each
// mark contains the recorder's counts and the time that the program read. zerotax can thus find a loop by the length
// that the program reports. Google Benchmark reads the clock of CPU time where a timed loop begins, ends or is paused,
// right after the clock of real time. Other frameworks read only the clock of real time (ZEROTAX_REAL_TIME_MARKS, set
// by bench/suite.cc).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

// Function of the recorder; NULL if the recorder is not preloaded.
__attribute__((weak)) void zerotax_record_mark(int64_t real_ns, int of_real_time);

static __thread int64_t last_real_ns __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec* now) {
  // Threads may race here, but all of them find the same function.
  static int (*real)(clockid_t, struct timespec*) = NULL;
  static int of_real_time = 0;
  if (real == NULL) {
    of_real_time = getenv("ZEROTAX_REAL_TIME_MARKS") != NULL;
    *(void**)&real = dlsym(RTLD_NEXT, "clock_gettime");
  }
  const int of_cpu = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
  if (of_cpu && !of_real_time && zerotax_record_mark != NULL) zerotax_record_mark(last_real_ns, 0);
  const int status = real(clock, now);
  if ((clock != CLOCK_MONOTONIC && !(of_real_time && clock == CLOCK_REALTIME)) || status != 0) return status;
  last_real_ns = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec;
  if (of_real_time && zerotax_record_mark != NULL) zerotax_record_mark(last_real_ns, 1);
  return status;
}
