// Preloaded into benchmarks beside the recorder. Google Benchmark reads the clock of CPU time where a timed loop begins
// and ends (and where it is paused): what was counted until then is marked.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>

// Of the recorder; absent if that was not preloaded.
__attribute__((weak)) void zerotax_record_mark(void);

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec* now) {
  // Whoever is first finds the same.
  static int (*real)(clockid_t, struct timespec*) = NULL;
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "clock_gettime");
  const int of_cpu = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
  if (of_cpu && zerotax_record_mark != NULL) zerotax_record_mark();
  return real(clock, now);
}
