#include "prove/process/generate.h"

#include <string.h>

#include "prove/process/execute.h"
#include "prove/process/histories.h"

enum { kTries = 6, kMostForks = 30, kLongestLg = 16 };

struct generator new_generator(const struct profile* profile, uint64_t seed) {
  struct generator generator = {.profile = profile, .random = seed, .is_growing = 1, .started = 1, .performed = -1};
  generator.live_room = profile->most_live * kMostThreads + 64;
  generator.live = reserve(generator.live_room * sizeof *generator.live);
  return generator;
}

static int happens(struct generator* generator, uint32_t chance) {
  return chance != 0 && below(generator, kTenThousand) < chance;
}

static uint32_t weighted(struct generator* generator, const uint32_t* weights, uint32_t sum) {
  uint64_t at = below(generator, sum);
  uint32_t i = 0;
  for (; at >= weights[i]; ++i) at -= weights[i];
  return i;
}

enum fill some_fill(struct generator* generator) {
  return (enum fill)weighted(generator, generator->profile->fill_weights, generator->profile->fill_weight);
}

static uint32_t some_live(struct generator* generator) {
  return generator->live[below(generator, generator->live_count)];
}

uint64_t some_size(struct generator* generator) {
  const struct profile* const profile = generator->profile;
  const int is_reuse = profile->kind == kEpisodeReuse;
  const uint64_t choice = profile->keeps_to_palette ? 1 : is_reuse ? 99 : below(generator, 100);
  if (choice == 0 && !profile->is_huge) return 0;
  if (choice < 85 || profile->is_huge) return profile->palette[below(generator, profile->palette_count)];
  return draw_size(&generator->random, profile->most_size);
}

/* Splits a size into two factors. The product may be a little smaller than the size. */
static void split(struct generator* generator, uint64_t size, struct op* op) {
  uint64_t factor = 1;
  /* Two factors below 4 GiB reach products that are computed in 32 bits. */
  const uint64_t choice = generator->profile->is_huge ? 4 + below(generator, 4) : below(generator, 8);
  if (choice == 0) factor = size;
  if (choice > 3) factor = (uint64_t)1 << below(generator, 7);
  if (choice > 5) factor = 1 + below(generator, 100);
  if (factor == 0) factor = 1;
  op->n = size / factor;
  op->m = factor;
  if (op->n == 0 && size != 0) op->n = 1;
  if (below(generator, 2) == 0) {
    op->n = op->m;
    op->m = size / factor == 0 && size != 0 ? 1 : size / factor;
  }
}

/* Chooses factors whose product is too large for a size, often one that wraps around to a small size. */
static void overflow(struct generator* generator, struct op* op) {
  const unsigned shift = 1 + (unsigned)below(generator, 62);
  const uint64_t odd = (random_bits(&generator->random) >> shift) | 3;
  uint64_t inverse = odd;
  switch (below(generator, 3)) {
    case 0:
      for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
      op->n = odd;
      op->m = inverse * (1 + below(generator, 256)); /* The product wraps around to the random number from 1 to 256. */
      break;
    case 1:
      op->n = (uint64_t)1 << shift;
      op->m = ((uint64_t)1 << (64 - shift)) + below(generator, 3);
      break;
    default:
      op->n = ((uint64_t)1 << (40 + below(generator, 23))) + 8;
      op->m = ((uint64_t)1 << (63 - below(generator, 23))) | 1;
      break;
  }
  if (below(generator, 2) == 0) {
    const uint64_t first = op->n;
    op->n = op->m;
    op->m = first;
  }
}

uint64_t other_size(struct generator* generator, uint64_t bytes) {
  const uint64_t most = generator->profile->most_size;
  uint64_t size = bytes;
  switch (below(generator, 6)) {
    case 0:
      size = bytes + 1 + below(generator, 64);
      break;
    case 1:
      size = bytes / 2 + below(generator, 2);
      break;
    case 2:
      size = bytes * 2;
      break;
    case 3:
      size = bytes + bytes / 8 + 1;
      break;
    case 4:
      size = bytes > 1 ? 1 + below(generator, bytes) : 1;
      break;
    default:
      size = some_size(generator);
      break;
  }
  return size == 0 ? 1 : size > most ? most : size;
}

/* Finds a live block that the row may use. Returns 0 if the search finds no block. */
static uint32_t source_for(struct generator* generator, const struct row* row) {
  for (int i = 0; i < kTries && generator->live_count != 0; ++i) {
    const uint32_t id = some_live(generator);
    const struct block* const block = &blocks[id];
    const struct row* const maker = &rows[block->row];
    if (block->bytes == 0 || maker->release != row->release) continue;
    if (row->promise >= kPromiseGrown && !block->keeps_zero_promise) continue;
    /* A program may not reallocate an aligned block of operator new. */
    if (row->promise == kPromiseKeep && strncmp(maker->symbol, "_Zn", 3) == 0) continue;
    return id;
  }
  return 0;
}

void complete_call(struct generator* generator, struct op* op, uint64_t size) {
  const struct row* const row = &rows[op->row];
  op->kind = kOpCall;
  if (row->most != 0 && size > row->most) size = 1 + size % row->most;
  if (has_argument(row, 'a') || has_argument(row, 'f')) {
    op->lg = (uint8_t)(3 + below(generator, below(generator, 4) == 0 ? kLongestLg - 2 : 4));
    const uint64_t most = (uint64_t)1 << op->lg;
    if (below(generator, 2) == 0 || op->row == kRowAligned) size = (size + most - 1) / most * most;
    if (has_argument(row, 'p')) op->lg = blocks[op->block].lg != 0 ? blocks[op->block].lg : op->lg;
  }
  if (op->row == kRowValloc || op->row == kRowPvalloc) op->lg = (uint8_t)__builtin_ctzll(page_bytes());
  if (size == 0 && op->row != kRowMalloc && op->row != kRowCalloc) size = 1;
  op->n = size;
  if (has_argument(row, 'm')) split(generator, size, op);
}

static void make_call(struct generator* generator, struct op* op) {
  const struct profile* const profile = generator->profile;
  op->row = weighted(generator, profile->row_weights, profile->row_weight);
  uint64_t size = some_size(generator);
  if (has_argument(&rows[op->row], 'p')) {
    op->block = source_for(generator, &rows[op->row]);
    if (op->block == 0) op->row = kRowMalloc;
    if (op->block != 0) size = other_size(generator, blocks[op->block].bytes);
  }
  op->fill = (uint8_t)some_fill(generator);
  complete_call(generator, op, size);
  if (has_argument(&rows[op->row], 'm') && happens(generator, profile->overflows)) overflow(generator, op);
}

static void make_free(struct generator* generator, struct op* op) {
  op->kind = kOpFree;
  switch (generator->profile->order) {
    case kLastFirst:
      op->block = generator->live[generator->live_count - 1];
      break;
    case kFirstFirst:
      op->block = generator->live[0];
      break;
    default:
      op->block = some_live(generator);
      break;
  }
}

uint64_t pause_of(struct generator* generator) {
  const uint64_t most = generator->profile->most_pause;
  if (most == 0 || generator->paused >= generator->profile->all_pauses) return 0;
  const uint64_t pause = most / (1 + below(generator, 4));
  generator->paused += pause;
  return pause;
}

static int make_pause(struct generator* generator, struct op* op) {
  op->n = pause_of(generator);
  if (op->n != 0) op->kind = kOpPause;
  return op->n != 0;
}

/* Starts or ends a thread. */
static int make_thread(struct generator* generator, struct op* op) {
  const uint32_t other = (uint32_t)below(generator, generator->profile->threads);
  const uint32_t bit = (uint32_t)1 << other;
  if (generator->profile->is_free_running || other == 0 || other == generator->thread) return 0;
  op->kind = (generator->started & bit) == 0 ? kOpStart : kOpEnd;
  op->n = other;
  generator->started ^= bit;
  return 1;
}

static int make_rare(struct generator* generator, struct op* op) {
  const struct profile* const profile = generator->profile;
  const uint32_t live = generator->live_count;
  if (happens(generator, profile->starts) && make_thread(generator, op)) return 1;
  if (happens(generator, profile->pauses) && make_pause(generator, op)) return 1;
  if (generator->forks < kMostForks && happens(generator, profile->forks)) op->kind = kOpFork;
  if (happens(generator, profile->trims)) op->kind = kOpTrim;
  if (live != 0 && happens(generator, profile->verifies)) op->kind = kOpVerify;
  if (live != 0 && happens(generator, profile->refills)) op->kind = kOpFill;
  if (happens(generator, profile->limits)) op->kind = kOpLimit;
  if (op->kind == kOpTrim && below(generator, 2) == 0) op->n = some_size(generator);
  if (op->kind == kOpFork) ++generator->forks;
  if (op->kind == kOpFork) op->m = some_size(generator);
  if (op->kind == kOpFork && live != 0) op->block = some_live(generator);
  if (op->kind == kOpVerify || op->kind == kOpFill) op->block = some_live(generator);
  if (op->kind == kOpFill) op->fill = (uint8_t)some_fill(generator);
  if (op->kind == kOpLimit) {
    generator->is_limited = !generator->is_limited;
    /* Half of the limits allow no growth at all, so that the next mapping fails. */
    const uint64_t more = below(generator, 2) == 0 ? 1 : 1 + below(generator, profile->most_size * 4 + 1);
    op->n = generator->is_limited ? more : 0;
  }
  return op->kind != 0;
}

/* Makes an operation of a random sequence. */
static void make_mixed(struct generator* generator, struct op* op) {
  const struct profile* const profile = generator->profile;
  if (!profile->is_free_running && happens(generator, profile->switches)) {
    const uint32_t other = (uint32_t)below(generator, profile->threads);
    if ((generator->started >> other & 1) != 0) generator->thread = other;
  }
  op->thread = (uint8_t)generator->thread;
  const uint32_t live = generator->live_count;
  if (generator->is_draining && live <= generator->drain_to) {
    generator->is_draining = 0;
    if (below(generator, 2) == 0 && make_pause(generator, op)) return;
  }
  if (!generator->is_draining && make_rare(generator, op)) return;
  if (live != 0 && happens(generator, profile->drains)) {
    generator->is_draining = 1;
    generator->drain_to = below(generator, 2) == 0 ? 0 : (uint32_t)below(generator, live);
  }
  if (below(generator, 64) == 0) generator->is_growing = !generator->is_growing;
  const int is_full = live >= profile->most_live || generator->live_bytes >= profile->most_live_bytes;
  const int frees = generator->is_draining || is_full || below(generator, 100) < (generator->is_growing ? 30U : 65U);
  if (live != 0 && frees) {
    make_free(generator, op);
  } else {
    make_call(generator, op);
  }
}

/* Takes the plan's next step, and skips steps whose block does not exist. Returns 0 at the plan's end. */
static int take_step(struct generator* generator, struct op* op) {
  while (generator->step < generator->steps) {
    struct step* const step = &generator->plan[generator->step++];
    if (step->uses >= 0) step->op.block = generator->plan[step->uses].made;
    /* A fork needs no block. */
    if (step->uses >= 0 && !blocks[step->op.block].is_live && step->op.kind != kOpFork) continue;
    *op = step->op;
    generator->performed = generator->step - 1;
    return 1;
  }
  return 0;
}

int next_op(struct generator* generator, struct op* op) {
  const struct profile* const profile = generator->profile;
  generator->performed = -1;
  memset(op, 0, sizeof *op);
  if (take_step(generator, op)) return 1;
  if (generator->calls >= profile->calls || generator->bytes >= profile->bytes) return 0;
  ++generator->calls;
  if (profile->kind != kEpisodeReuse) {
    make_mixed(generator, op);
  } else if (generator->live_count > profile->most_live) {
    make_free(generator, op);
  } else {
    plan_history(generator);
    return take_step(generator, op);
  }
  return 1;
}

static void forget(struct generator* generator, uint32_t id) {
  uint32_t at = generator->live_count - 1;
  if (generator->profile->order == kFirstFirst && generator->live[0] == id) at = 0;
  while (generator->live[at] != id) --at;
  generator->live_bytes -= blocks[id].bytes;
  --generator->live_count;
  if (generator->profile->order == kAnyOrder) {
    generator->live[at] = generator->live[generator->live_count];
  } else {
    memmove(generator->live + at, generator->live + at + 1, (generator->live_count - at) * sizeof *generator->live);
  }
}

void adopt(struct generator* generator, uint32_t id) {
  if (generator->live_count == generator->live_room) give_up("more live blocks than expected");
  generator->live[generator->live_count++] = id;
  generator->live_bytes += blocks[id].bytes;
}

void settle(struct generator* generator, const struct op* op) {
  if (op->kind == kOpFree || (op->kind == kOpCall && op->block != 0 && !blocks[op->block].is_live)) {
    forget(generator, op->block);
  }
  if (op->kind != kOpCall || !blocks[op->id].is_live) return;
  if (generator->performed >= 0) generator->plan[generator->performed].made = op->id;
  generator->bytes += blocks[op->id].bytes;
  adopt(generator, op->id);
}
