/* The recorder of zerotax: your own events with timestamps, at about the cost of reading the clock.
 *
 *   ZEROTAX_EVENT(request_done, (uint64_t, bytes), (double, seconds), (char, peer, 16))
 *   ...
 *   ZEROTAX_RECORD(request_done, .bytes = 512, .seconds = 0.25, .peer = "example");
 *
 * Compile with C11 or C++20, link with -lzerotax-recorder, run with ZEROTAX_TRACE_DIR=FOLDER. See docs/trace.md.
 */
#ifndef ZEROTAX_RECORDER_H
#define ZEROTAX_RECORDER_H

// NOLINTBEGIN(modernize-deprecated-headers): C includes this, too
#include <stddef.h>
#include <stdint.h>
// NOLINTEND(modernize-deprecated-headers)

#include "zerotax/recorder_fast.h"
#include "zerotax/recorder_fields.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Selects the records to lose when the drain falls behind and a thread's buffer is full. All losses are counted. */
enum zerotax_trace_mode {
  ZEROTAX_TRACE_LOST = 1,      /* the new record is lost (the default) */
  ZEROTAX_TRACE_OVERWRITE = 2, /* the oldest packet of records is overwritten */
};

/* Selects the thread that writes full packets to the stream files. */
enum zerotax_trace_drain {
  ZEROTAX_TRACE_DRAIN_THREAD = 1, /* a thread of the recorder (the default; in a forked child, like SELF) */
  ZEROTAX_TRACE_DRAIN_SELF = 2,   /* the recording thread, whenever it has filled a quarter of its buffer */
  ZEROTAX_TRACE_DRAIN_OFF = 3, /* none until a flush, a stop, or the thread's end (with OVERWRITE: a flight recorder) */
};

/* A member that was added later has a default, so that older programs need not name the member. */
#ifdef __cplusplus
#define ZEROTAX_IF_NOT_GIVEN_ = nullptr
#else
#define ZEROTAX_IF_NOT_GIVEN_
#endif

/* 0 or NULL selects the value of the environment variable, or else the default. */
struct zerotax_trace_options {
  const char* directory; /* ZEROTAX_TRACE_DIR: created if needed, with a folder for each process in it */
  size_t buffer_bytes;   /* ZEROTAX_TRACE_BUFFER: per thread, 64 KiB to 4 GiB; 4 MiB by default */
  int mode;              /* ZEROTAX_TRACE_MODE: lost, overwrite */
  int drain;             /* ZEROTAX_TRACE_DRAIN: thread, self, off */
  int monotonic;         /* ZEROTAX_TRACE_CLOCK=monotonic (1: CLOCK_MONOTONIC even if the TSC is usable) or tsc (-1) */
  const char* events ZEROTAX_IF_NOT_GIVEN_; /* ZEROTAX_TRACE_EVENTS: types to record, "a_*,!a_b"; default: all */
  const char* until ZEROTAX_IF_NOT_GIVEN_;  /* ZEROTAX_TRACE_UNTIL: types whose first record ends the trace */
};

/* Starts recording. If ZEROTAX_TRACE_DIR is in the environment, recording starts automatically. Returns 0, or an errno
 * value (also reported on stderr): EALREADY if already recording, EINVAL if an option is out of range. `options` may be
 * NULL.
 * With `until`, mode and drain default to OVERWRITE and OFF. The buffers then keep the latest records up to the record
 * that ends the trace, and zerotax_trace_stop, or the program's end, writes them. With `events`, each record costs a
 * call, which is short if the event is excluded. Names of events may contain * and ?. */
ZEROTAX_PUBLIC_ int zerotax_trace_start(const struct zerotax_trace_options* options);

/* Writes the recorded events and stops recording. Called automatically when the program exits. Records that other
 * threads make meanwhile may be lost uncounted, so stop those threads first. Recording may be started again afterwards.
 */
ZEROTAX_PUBLIC_ void zerotax_trace_stop(void);

/* Writes all complete packets of every thread, and the calling thread's unfinished packet. */
ZEROTAX_PUBLIC_ void zerotax_trace_flush(void);

/* Records an event with a time that the caller passes, in nanoseconds of CLOCK_MONOTONIC. Use this for events that are
 * reported later, for example by the kernel. Requires a trace that was started with monotonic = 1; otherwise the record
 * is lost, and counted. Times ascend within a thread, so a time before the thread's last time is replaced by the last
 * time. `type`, `bytes` and `size` are as passed by ZEROTAX_RECORD_AT. */
ZEROTAX_PUBLIC_ void zerotax_record_at(struct zerotax_type* type, const void* bytes, size_t size,
                                       uint64_t monotonic_ns);

/* Whether a trace is being recorded. */
ZEROTAX_PUBLIC_ int zerotax_trace_is_on(void);

/* Calls `changed` with 1 after each start of a trace, and with 0 before each stop (unless `until` ended the trace). The
 * call is made in the thread that starts or stops. `changed` may record, but must not start or stop a trace. Returns 0,
 * or ENOSPC if eight functions are already registered. */
ZEROTAX_PUBLIC_ int zerotax_trace_watch(void (*changed)(int on));

/* Returns the number of this process's records that were not kept since the start: lost, overwritten, or not written.
 */
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
