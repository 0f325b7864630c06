#pragma once

/* The clock that an allocator reads inside a call. It shows the time that had passed in the recorded program. So an
 * allocator purges as in the recorded run, whether the replay is faster or slower. */

#include <stdint.h>

/* In units of 65,536 ns. */
void time_passed(uint64_t units);

/* Called if the recording has times. Otherwise the clock is the real one. */
void follow_recorded_time(void);

/* Around each call of the allocator by this thread. */
void begin_call(void);
void end_call(void);

/* At the start of the process. */
void begin_time(void);
