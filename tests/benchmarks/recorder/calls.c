/* Usage: calls COUNT. Prints the nanoseconds that a call to a small function takes. The program is built once without
   and once with -finstrument-functions. */
#include <stdio.h>
#include <stdlib.h>

#include "stopwatch.h"

#define STRETCH 20000

static __attribute__((noinline)) uint64_t small(uint64_t value) {
  __asm__ volatile("" : "+r"(value));
  return value + 1;
}

static __attribute__((no_instrument_function)) int compare(const void* one, const void* other) {
  const double a = *(const double*)one;
  const double b = *(const double*)other;
  return (a > b) - (a < b);
}

__attribute__((no_instrument_function)) int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const size_t stretches = (size_t)(strtoull(argv[1], NULL, 10) / STRETCH + 3);
  double* ns = calloc(stretches, sizeof *ns);
  uint64_t value = 0;
  for (size_t lap = 0; lap < stretches; ++lap) {
    const int64_t before = stopwatch_ns();
    for (int i = 0; i < STRETCH; ++i) value = small(value);
    ns[lap] = (double)(stopwatch_ns() - before) / STRETCH;
  }
  const size_t warm = stretches / 4;
  qsort(ns + warm, stretches - warm, sizeof *ns, compare);
  printf("%.3f %llu\n", ns[warm + (stretches - warm) / 2], (unsigned long long)value);
  free(ns);
  return 0;
}
