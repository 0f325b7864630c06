#include "prove/process/history.h"

#include "prove/process/own.h"
#include "prove/process/watched_pages.h"

enum { kPlaces = 1 << 17, kLookUp = 1 << 14, kMostLookUp = 1 << 26 };

/* A place in a hash table of freed blocks. The place holds the last freed block whose address has the place's hash.
 * Threads may race for a place, which can lose or confuse a count. */
struct place {
  uint64_t at;   /* address */
  uint64_t when; /* the number of operations before the free */
  uint64_t bytes;
  uint8_t fill;
  uint8_t thread;
  uint8_t is_watched;
};

static struct place* places;
static uint64_t last[kEvents]; /* the number of operations at the last event of each kind, plus one */

void open_history(void) { places = reserve(kPlaces * sizeof *places); }

static struct place* place_of(const struct block* block) {
  uint64_t state = (uint64_t)(uintptr_t)block->at;
  return &places[random_bits(&state) % kPlaces];
}

static uint64_t now(void) { return __atomic_load_n(&head->ops, __ATOMIC_RELAXED); }

void note_event(enum event event) { __atomic_store_n(&last[event], now() + 1, __ATOMIC_RELAXED); }

void note_free(const struct block* block, unsigned thread) {
  const int is_watched = head->watches_pages && watch_pages(block->at, block->bytes);
  *place_of(block) = (struct place){(uintptr_t)block->at, now(),           block->bytes,
                                    block->contents.fill, (uint8_t)thread, (uint8_t)is_watched};
}

/* Returns the number of a size's class. Each doubling has four classes. */
static uint64_t quarter(uint64_t bytes) {
  if (bytes < 4) return bytes;
  const unsigned lg = 63 - (unsigned)__builtin_clzll(bytes);
  return UINT64_C(4) * lg + (bytes >> (lg - 2) & 3);
}

static int is_threshold(uint64_t bytes) {
  for (uint32_t i = 0; i < head->threshold_count; ++i) {
    if (head->sizes[i] == bytes) return 1;
  }
  return 0;
}

/* Features are hashed, so a few share a bit. */
static void note_feature(uint64_t feature) {
  const uint64_t bit = random_bits(&feature) % kFeatures;
  const uint8_t mask = (uint8_t)(1U << bit % 8);
  uint8_t* const byte = &head->features[bit / 8];
  if ((__atomic_load_n(byte, __ATOMIC_RELAXED) & mask) != 0) return;
  if ((__atomic_fetch_or(byte, mask, __ATOMIC_RELAXED) & mask) == 0) count(&head->feature_count, 1);
}

static unsigned decade_of(uint64_t bytes) {
  unsigned decade = 0;
  for (uint64_t left = bytes; left >= 10 && decade < kDecades - 1; left /= 10) ++decade;
  return decade;
}

/* Counts the pages of a reused block. Returns 0 for a block that is not looked up, else which pages are populated. */
static uint64_t count_pages(const struct block* block, const struct place* place) {
  if (block->bytes < kLookUp || block->bytes > kMostLookUp) return 0;
  uint64_t populated = 0;
  const uint64_t pages = whole_pages(block->at, block->bytes, &populated);
  count(&head->reused_pages, pages);
  count(&head->reused_unpopulated, pages - populated);
  const uint64_t state = populated == 0 ? 1 : populated == pages ? 2 : 3;
  if (!place->is_watched) return state;
  const uint64_t common = block->bytes < place->bytes ? block->bytes : place->bytes;
  const uint64_t untouched = untouched_pages(block->at, common);
  count(&head->watched_pages, common / page_bytes());
  count(&head->untouched_pages, untouched);
  if (untouched != 0) count(&head->by_nobody[decade_of(block->bytes)], 1);
  return untouched != 0 ? state + 4 : state;
}

void note_calloc(const struct block* block) {
  count(&head->callocs, 1);
  const uint64_t size = quarter(block->bytes) << 1 | (uint64_t)is_threshold(block->bytes);
  const struct place place = *place_of(block);
  if (place.at != (uintptr_t)block->at) {
    note_feature(size << 8 | block->row);
    return;
  }
  const int is_other = place.thread != block->thread;
  uint64_t events = 0;
  count(&head->reused[block->thread != 0][decade_of(block->bytes)], 1);
  count(&head->reused_fill[place.fill], 1);
  if (is_other) count(&head->reused_other_thread, 1);
  for (int i = 0; i < kEvents; ++i) {
    if (__atomic_load_n(&last[i], __ATOMIC_RELAXED) <= place.when) continue;
    count(&head->reused_event[i], 1);
    events |= (uint64_t)1 << i;
  }
  const uint64_t pages = count_pages(block, &place);
  const uint64_t relation = place.bytes < block->bytes ? 0 : place.bytes == block->bytes ? 1 : 2;
  note_feature((uint64_t)1 << 60 | size << 24 | relation << 20 | (uint64_t)place.fill << 16 | pages << 8 |
               (uint64_t)is_other << 7 | events);
}

void note_realloc(const struct block* old, const struct block* block) {
  note_feature((uint64_t)2 << 60 | quarter(old->bytes) << 16 | quarter(block->bytes) << 4 |
               (uint64_t)(old->at == block->at) << 1 | (uint64_t)(old->lg != 0));
}
