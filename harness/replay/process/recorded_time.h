#pragma once

/* The clock that an allocator reads inside a call: it shows the time that had passed for the recorded program. So what
 * allocators do after a time, as to purge, they do in a replay, which does not wait, nor do they more of it where the
 * replay is slower. */

#include <stdint.h>

/* In units of 65,536 ns. */
void time_passed(uint64_t units);

/* The recording has times: without them, the clock is the real one. */
void follow_recorded_time(void);

/* Around each call of the allocator by this thread. */
void begin_call(void);
void end_call(void);

/* At the start of the process. */
void begin_time(void);
