#pragma once

/* Output, memory and random numbers of this program. The functions do not use the allocator under test. */

#include <stddef.h>
#include <stdint.h>

#include "replay/process/own_memory.h"

/* Returns zeroed memory from mmap. Ends the process with status 3 if no memory is available. */
void* reserve(size_t bytes);
/* Makes all lines go to a file instead of the standard streams, because the library may print to the streams. */
void write_lines_to(const char* path);
/* Makes give_up write to memory instead. The supervisor prints the message of an episode's process. */
void keep_message_in(char* to, size_t room);
/* Prints one line to standard output by a single write. */
__attribute__((format(printf, 1, 2))) void print_line(const char* form, ...);
/* Prints one line to standard error and ends the process with status 2. */
__attribute__((format(printf, 1, 2))) _Noreturn void give_up(const char* form, ...);
uint64_t now_ns(void);
/* Reads a whole small file. Returns its text, or gives up. */
char* read_text(const char* path);

/* A random generator with 64 bits of state (splitmix64), so that a seed of any value is good. */
static inline uint64_t random_bits(uint64_t* state) {
  uint64_t mixed = (*state += 0x9E3779B97F4A7C15U);
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBU;
  return mixed ^ mixed >> 31;
}

/* Returns a number below `limit`, which is not 0. */
static inline uint64_t random_below(uint64_t* state, uint64_t limit) {
  return random_bits(state) % limit;  // NOLINT(clang-analyzer-core.DivideZero): callers check the limit
}
