#pragma once

/* The address ranges of all live blocks in address order. Several threads may use them. */

#include <stddef.h>
#include <stdint.h>

struct range {
  uintptr_t from;
  uintptr_t to;
  uint32_t id;
};

/* Maps memory for `most` ranges. */
void open_ranges(size_t most);
/* Adds a range. Returns 0, or the id of a range that it overlaps. */
uint32_t add_range(struct range range);
void remove_range(uintptr_t from);
/* Returns the id of a range that overlaps [from, to), or 0. */
uint32_t range_in(uintptr_t from, uintptr_t to);
size_t range_count(void);
struct range range_at(size_t index);
