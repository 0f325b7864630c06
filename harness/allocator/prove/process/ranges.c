#include "prove/process/ranges.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "prove/process/own.h"

static struct range* ranges; /* sorted */
static size_t used;
static size_t room;
static atomic_flag taken = ATOMIC_FLAG_INIT;

static void lock(void) {
  while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire)) sched_yield();
}

static void unlock(void) { atomic_flag_clear_explicit(&taken, memory_order_release); }

void open_ranges(size_t most) {
  room = most;
  ranges = reserve(most * sizeof *ranges);
}

/* Returns the index of the first range that begins at `from` or after it. */
static size_t find(uintptr_t from) {
  size_t low = 0;
  size_t high = used;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (ranges[middle].from < from) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint32_t add_range(struct range range) {
  uint32_t other = 0;
  lock();
  const size_t at = find(range.from);
  if (at < used && ranges[at].from < range.to) other = ranges[at].id;
  if (at > 0 && ranges[at - 1].to > range.from) other = ranges[at - 1].id;
  if (other == 0) {
    if (used == room) give_up("more than %zu live blocks", room);
    memmove(ranges + at + 1, ranges + at, (used - at) * sizeof *ranges);
    ranges[at] = range;
    ++used;
  }
  unlock();
  return other;
}

void remove_range(uintptr_t from) {
  lock();
  const size_t at = find(from);
  if (at < used && ranges[at].from == from) {
    --used;
    memmove(ranges + at, ranges + at + 1, (used - at) * sizeof *ranges);
  }
  unlock();
}

uint32_t range_in(uintptr_t from, uintptr_t to) {
  lock();
  const size_t at = find(from);
  const uint32_t id = at < used && ranges[at].from < to ? ranges[at].id : 0;
  unlock();
  return id;
}

size_t range_count(void) { return used; }

struct range range_at(size_t index) {
  return ranges[index];
}
