/* Usage: records_lttng COUNT. The equivalent of records.cc with a tracepoint of LTTng-UST. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <stdio.h>
#include <stdlib.h>

#include "../stopwatch.h"
#include "sixteen_tracepoint.h"

#define STRETCH 20000

static int compare(const void* one, const void* other) {
  const double a = *(const double*)one;
  const double b = *(const double*)other;
  return (a > b) - (a < b);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const size_t stretches = (size_t)(strtoull(argv[1], NULL, 10) / STRETCH + 3);
  double* ns = calloc(stretches, sizeof *ns);
  for (size_t lap = 0; lap < stretches; ++lap) {
    const int64_t before = stopwatch_ns();
    for (uint64_t i = 0; i < STRETCH; ++i) lttng_ust_tracepoint(zerotax_benchmark, sixteen, i, ~i);
    ns[lap] = (double)(stopwatch_ns() - before) / STRETCH;
  }
  const size_t warm = stretches / 4;
  qsort(ns + warm, stretches - warm, sizeof *ns, compare);
  printf("%.3f %d\n", ns[warm + (stretches - warm) / 2],
         lttng_ust_tracepoint_enabled(zerotax_benchmark, sixteen) ? 1 : 0);
  free(ns);
  return 0;
}
