// Preloaded into benchmarks beside the recorder. Google Benchmark reads the clock of CPU time where a timed loop begins
// and ends (and where it is paused), right after the clock of real time: what was counted until then is marked with that
// time, so that a loop is known again by the length that the program reports for it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// Of the recorder; absent if that was not preloaded.
__attribute__((weak)) void zerotax_record_mark(int64_t real_ns);

static __thread int64_t last_real_ns __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec* now) {
  // Whoever is first finds the same.
  static int (*real)(clockid_t, struct timespec*) = NULL;
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "clock_gettime");
  const int of_cpu = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
  if (of_cpu && zerotax_record_mark != NULL) zerotax_record_mark(last_real_ns);
  const int status = real(clock, now);
  if (clock == CLOCK_MONOTONIC && status == 0) last_real_ns = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec;
  return status;
}
