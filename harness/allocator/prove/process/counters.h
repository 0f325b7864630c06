#pragma once

/* Prints the counters of all episodes. */

#include <stdint.h>

#include "prove/process/slot.h"

struct run_facts {
  double seconds;
  double cpu_seconds;
  uint64_t episodes;
  uint64_t of_kind[kEpisodeKinds];
  unsigned late;
  unsigned strays;
};

extern const char* const kind_names[kEpisodeKinds];
/* Prints the sums of the slots' counters. */
void print_counters(const struct slot* slots, uint32_t count_of_slots, const struct run_facts* facts);
