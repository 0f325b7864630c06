/* The recorder of zerotax: events of your own, with a timestamp, at about the price of reading the clock.
 *
 *   ZEROTAX_EVENT(request_done, (uint64_t, bytes), (double, seconds), (char, peer, 16))
 *   ...
 *   ZEROTAX_RECORD(request_done, .bytes = 512, .seconds = 0.25, .peer = "example");
 *
 * Compile with C11 or C++20, link with -lzerotax-recorder, run with ZEROTAX_TRACE_DIR=FOLDER. docs/trace.md says more.
 */
#ifndef ZEROTAX_RECORDER_H
#define ZEROTAX_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "zerotax/recorder_fast.h"
#include "zerotax/recorder_fields.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of a record when a thread's buffer is full because the drain has fallen behind. Both are counted. */
enum zerotax_trace_mode {
  ZEROTAX_TRACE_LOST = 1,      /* the new record is lost (the default) */
  ZEROTAX_TRACE_OVERWRITE = 2, /* the oldest packet of records is overwritten */
};

/* Who writes full packets to the stream files. */
enum zerotax_trace_drain {
  ZEROTAX_TRACE_DRAIN_THREAD = 1, /* a thread of the recorder's own (the default; in a forked child: as SELF) */
  ZEROTAX_TRACE_DRAIN_SELF = 2,   /* the recording thread itself, whenever it has filled a quarter of its buffer */
  ZEROTAX_TRACE_DRAIN_OFF = 3,    /* nobody before the thread ends, flush or stop: with OVERWRITE, a flight recorder */
};

/* 0 and NULL: what the environment variable says, or else the default. */
struct zerotax_trace_options {
  const char* directory; /* ZEROTAX_TRACE_DIR: made if need be; a folder per process is made in it */
  size_t buffer_bytes;   /* ZEROTAX_TRACE_BUFFER: of each thread, 64 KiB to 4 GiB; 4 MiB by default */
  int mode;              /* ZEROTAX_TRACE_MODE: lost, overwrite */
  int drain;             /* ZEROTAX_TRACE_DRAIN: thread, self, off */
  int monotonic;         /* ZEROTAX_TRACE_CLOCK=monotonic (or tsc): 1: CLOCK_MONOTONIC although the TSC is usable */
};

/* Begins to record. A program that has ZEROTAX_TRACE_DIR in its environment begins by itself. Returns 0, or an errno
 * value (said on stderr, too): EALREADY if it records, EINVAL for an option out of range. Options may be NULL. */
ZEROTAX_PUBLIC_ int zerotax_trace_start(const struct zerotax_trace_options* options);

/* Writes what was recorded and ends; done by itself when the program exits. What other threads record while it runs may
 * be lost uncounted: stop them first. It may be started anew afterwards. */
ZEROTAX_PUBLIC_ void zerotax_trace_stop(void);

/* Writes all complete packets of every thread, and the calling thread's begun one. */
ZEROTAX_PUBLIC_ void zerotax_trace_flush(void);

/* Records as of another time, in nanoseconds of CLOCK_MONOTONIC: for what is told of later, as by the kernel. Only in a
 * trace that was started with monotonic = 1 (else it is lost, and counted). In a thread times ascend: an earlier one
 * becomes the last. `type`, `bytes`, `size` as ZEROTAX_RECORD_AT gives them. */
ZEROTAX_PUBLIC_ void zerotax_record_at(struct zerotax_type* type, const void* bytes, size_t size,
                                       uint64_t monotonic_ns);

/* Whether it records. */
ZEROTAX_PUBLIC_ int zerotax_trace_is_on(void);

/* Records of this process that were not kept since the start: lost, overwritten, or not written. */
ZEROTAX_PUBLIC_ uint64_t zerotax_trace_lost(void);

#ifdef __cplusplus
}

namespace zerotax {

/// Records an event: record(request_done{.bytes = 512}).
template <typename Event>
inline __attribute__((always_inline, no_instrument_function)) void record(const Event& event) {
  zerotax_record_bytes(zerotax_type_of(&event), &event, zerotax_bytes_of(&event));
}

}  // namespace zerotax
#endif

#endif
