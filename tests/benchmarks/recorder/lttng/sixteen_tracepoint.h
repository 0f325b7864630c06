#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER zerotax_benchmark

#undef LTTNG_UST_TRACEPOINT_INCLUDE
/* This name must differ from the names of all LTTng files, because LTTng's own folder is searched first. */
#define LTTNG_UST_TRACEPOINT_INCLUDE "sixteen_tracepoint.h"

/* The include guard has an exception for the LTTng header at the end, which includes this file again. */
#if !defined(ZEROTAX_BENCHMARK_TRACEPOINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ZEROTAX_BENCHMARK_TRACEPOINT_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(zerotax_benchmark, sixteen, LTTNG_UST_TP_ARGS(uint64_t, first, uint64_t, second),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, first, first)
                                                   lttng_ust_field_integer(uint64_t, second, second)))

#endif

#include <lttng/tracepoint-event.h>
