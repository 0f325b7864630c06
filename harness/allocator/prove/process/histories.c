#include "prove/process/histories.h"

#include <string.h>

#include "prove/process/execute.h"

enum { kMostNeighbors = 3, kMostMade = 10, kMostRounds = 3, kTries = 8 };

/* A history that is being planned. */
struct history {
  struct generator* generator;
  uint64_t bytes; /* size of the block */
  int block;      /* the step that made the block */
  int is_limited;
};

static struct op* add_step(struct history* history, enum op_kind kind, int uses) {
  struct generator* const generator = history->generator;
  struct step* const step = &generator->plan[generator->steps++];
  memset(step, 0, sizeof *step);
  step->op.kind = (uint8_t)kind;
  step->op.thread = (uint8_t)generator->thread;
  step->uses = uses;
  return &step->op;
}

/* Makes another thread perform the following steps, and adds a step that starts the thread if necessary. */
static void switch_thread(struct history* history) {
  struct generator* const generator = history->generator;
  if (generator->profile->threads < 2 || below(generator, 2) == 0) return;
  const uint32_t other = (uint32_t)below(generator, generator->profile->threads);
  if ((generator->started >> other & 1) == 0) {
    add_step(history, kOpStart, -1)->n = other;
    generator->started |= (uint32_t)1 << other;
  }
  generator->thread = other;
}

static void end_thread(struct history* history) {
  struct generator* const generator = history->generator;
  if (generator->started == 1) return;
  const uint32_t other = 1 + (uint32_t)below(generator, generator->profile->threads - 1);
  if ((generator->started >> other & 1) == 0) return;
  generator->thread = 0;
  add_step(history, kOpEnd, -1)->n = other;
  generator->started &= ~((uint32_t)1 << other);
}

/* Returns a row of the profile whose blocks the row `like` can free, or the standard row `otherwise`. */
static uint32_t some_row(struct generator* generator, int has_source, int is_zeroing, uint32_t otherwise) {
  const struct profile* const profile = generator->profile;
  for (int i = 0; i < kTries; ++i) {
    uint64_t at = below(generator, profile->row_weight);
    uint32_t row = 0;
    for (; at >= profile->row_weights[row]; ++row) at -= profile->row_weights[row];
    if (has_argument(&rows[row], 'p') != has_source) continue;
    if (is_zeroing && rows[row].promise != kPromiseZero) continue;
    return row;
  }
  return otherwise;
}

static int make_block(struct history* history, uint64_t bytes, uint32_t row) {
  struct generator* const generator = history->generator;
  struct op* const op = add_step(history, kOpCall, -1);
  op->row = row;
  op->fill = (uint8_t)some_fill(generator);
  complete_call(generator, op, bytes);
  return generator->steps - 1;
}

/* Reallocates the block or writes to it again. Of the functions that reallocate, only realloc itself is planned. */
static void change_block(struct history* history) {
  struct generator* const generator = history->generator;
  const struct row* const maker = &rows[generator->plan[history->block].op.row];
  if (below(generator, 4) == 0) add_step(history, kOpFill, history->block)->fill = (uint8_t)some_fill(generator);
  if (below(generator, 3) != 0 || maker->release != rows[kRowRealloc].release || !is_usable(kRowRealloc)) return;
  if (strncmp(maker->symbol, "_Zn", 3) == 0) return;
  for (int i = 0; i < 2 && (i == 0 || below(generator, 2) == 0); ++i) {
    struct op* const op = add_step(history, kOpCall, history->block);
    op->row = kRowRealloc;
    op->fill = (uint8_t)some_fill(generator);
    op->n = other_size(generator, history->bytes);
    history->bytes = op->n;
    history->block = generator->steps - 1;
  }
}

/* Returns the bytes that a trim keeps or a limit allows: a number related to the block's size. */
static uint64_t part_of_block(struct history* history) {
  const uint64_t page = page_bytes();
  const uint64_t choice = below(history->generator, 4);
  if (choice == 0) return 0;
  return choice == 1 ? page * (1 + below(history->generator, 4)) : 1 + below(history->generator, history->bytes + page);
}

static void add_event(struct history* history) {
  struct generator* const generator = history->generator;
  const uint32_t* const weights = generator->profile->event_weights;
  uint64_t at = below(generator, 8 + weights[0] + weights[1] + weights[2] + weights[3] + weights[4]);
  int event = 0;
  for (; event < kEvents && at >= weights[event]; ++event) at -= weights[event];
  switch (event) {
    case kEventPause: {
      const uint64_t pause = pause_of(generator);
      if (pause != 0) add_step(history, kOpPause, -1)->n = pause;
      break;
    }
    case kEventTrim:
      add_step(history, kOpTrim, -1)->n = part_of_block(history);
      break;
    case kEventLimit:
      if (history->is_limited) break;
      add_step(history, kOpLimit, -1)->n = below(generator, 4) != 0 ? 1 : 1 + part_of_block(history);
      history->is_limited = 1;
      break;
    case kEventFork: {
      if (generator->forks++ > 200) break;
      const int uses =
          generator->plan[history->block].op.kind == kOpCall && below(generator, 2) == 0 ? history->block : -1;
      add_step(history, kOpFork, uses)->m = history->bytes;
      break;
    }
    case kEventThreadEnd:
      end_thread(history);
      break;
    default:
      break;
  }
}

static uint64_t related_size(struct history* history) {
  struct generator* const generator = history->generator;
  const uint64_t choice = below(generator, 16);
  /* Near a limit, an allocator may use a much larger block. */
  if (history->is_limited && choice > 10) return 1 + history->bytes / (2 + below(generator, 8));
  if (choice < 7) return history->bytes;
  if (choice < 9) return history->bytes > 1 ? 1 + below(generator, history->bytes) : 1;
  if (choice < 10) return some_size(generator);
  return other_size(generator, history->bytes);
}

/* Adds steps that free the block, cause an event such as a fork or a pause, and usually have the next block zeroed. */
static void add_round(struct history* history) {
  struct generator* const generator = history->generator;
  switch_thread(history);
  add_step(history, kOpFree, history->block);
  add_event(history);
  switch_thread(history);
  if (below(generator, 8) == 0) {
    const int other = make_block(history, related_size(history), some_row(generator, 0, 0, kRowMalloc));
    if (below(generator, 2) == 0) add_step(history, kOpFree, other);
  }
  const uint64_t bytes = related_size(history);
  const uint32_t row = below(generator, 8) == 0 ? kRowMalloc : some_row(generator, 0, 1, kRowCalloc);
  history->block = make_block(history, bytes, row);
  history->bytes = bytes;
}

/* Adds steps that allocate under a limit until no memory is left, then free blocks and call calloc in their place. */
static void plan_shortage(struct history* history) {
  struct generator* const generator = history->generator;
  int made[kMostMade];
  if (below(generator, 2) == 0) {
    const uint64_t larger = history->bytes * (2 + below(generator, 8));
    const uint64_t most = generator->profile->most_size;
    const int block = make_block(history, larger < most ? larger : most, kRowMalloc);
    add_step(history, kOpFree, block);
  }
  add_step(history, kOpLimit, -1)->n = 1;
  const int count_made = 2 + (int)below(generator, kMostMade - 1);
  for (int i = 0; i < count_made; ++i) {
    const int zeroing = below(generator, 2) == 0;
    /* An allocator that runs out of memory may return memory to the kernel. The next limit then forbids this memory
     * too. */
    if (i > 0 && below(generator, 2) == 0) add_step(history, kOpLimit, -1)->n = 1;
    made[i] = make_block(history, history->bytes, some_row(generator, 0, zeroing, zeroing ? kRowCalloc : kRowMalloc));
  }
  /* Frees the newest blocks first. Steps of blocks that do not exist are skipped. */
  for (int i = count_made - 1; i >= 0; --i) {
    add_step(history, kOpFree, made[i]);
    if (i % 2 == 0) made[i] = make_block(history, history->bytes, some_row(generator, 0, 1, kRowCalloc));
  }
  for (int i = 0; i < count_made; i += 2) add_step(history, kOpFree, made[i]);
  add_step(history, kOpLimit, -1)->n = 0;
}

void plan_history(struct generator* generator) {
  struct history history = {.generator = generator};
  int neighbors[kMostNeighbors];
  int neighbor_count = 0;
  generator->steps = generator->step = 0;
  history.bytes = some_size(generator);
  switch_thread(&history);
  if (generator->profile->event_weights[kEventLimit] != 0 && below(generator, 8) == 0) {
    plan_shortage(&history);
    return;
  }
  for (uint64_t left = below(generator, 4) == 0 ? 1 + below(generator, kMostNeighbors) : 0; left != 0; --left) {
    const uint64_t bytes = below(generator, 2) == 0 ? history.bytes : other_size(generator, history.bytes);
    neighbors[neighbor_count++] = make_block(&history, bytes, some_row(generator, 0, 0, kRowMalloc));
  }
  history.block = make_block(&history, history.bytes, some_row(generator, 0, 0, kRowMalloc));
  change_block(&history);
  if (below(generator, 8) == 0) add_event(&history);
  for (int i = 0; i < neighbor_count; ++i) {
    if (below(generator, 4) != 0) add_step(&history, kOpFree, neighbors[i]);
  }
  for (int i = 0; i < kMostRounds && (i == 0 || below(generator, 2) == 0); ++i) add_round(&history);
  if (below(generator, 4) != 0) add_step(&history, kOpFree, history.block);
  if (history.is_limited) add_step(&history, kOpLimit, -1)->n = 0;
}
