#pragma once

/* The clock that an allocator reads inside a call: it is not behind the time that had passed for the recorded program.
 * So what allocators do after a time, as to purge, they do in a replay, which does not wait. */

#include <stdint.h>

/* In units of 65,536 ns. */
void time_passed(uint64_t units);

/* Around each call of the allocator by this thread. */
void begin_call(void);
void end_call(void);

/* At the start of the process. */
void begin_time(void);
