#include "prove/process/profile.h"

#include <string.h>

#include "prove/process/own.h"

enum { kMostProbed = 1 << 20, kShort = 24, kShortCalls = 4000 };

static const uint64_t kMiB = (uint64_t)1 << 20;
static const uint64_t kGiB = (uint64_t)1 << 30;

static uint64_t log_uniform(uint64_t* random, uint64_t least, uint64_t most) {
  unsigned low = 0;
  unsigned high = 0;
  if (most <= least) return least;
  while (low < 62 && (uint64_t)2 << low <= least) ++low;
  while (high < 62 && (uint64_t)2 << high <= most) ++high;
  const uint64_t power = (uint64_t)1 << (low + random_below(random, high - low + 1));
  const uint64_t size = power + random_below(random, power);
  return size < least ? least : size > most ? most : size;
}

static uint64_t draw_listed(uint64_t* random, uint32_t from, uint32_t to, uint64_t most) {
  for (int tries = 0; tries < 8 && from < to; ++tries) {
    const uint64_t size = head->sizes[from + random_below(random, to - from)];
    if (size <= most) return size;
  }
  return log_uniform(random, 1, most);
}

/* Moves a size by one byte, or by a header's size, or not. */
static uint64_t beside(uint64_t* random, uint64_t size) {
  static const int64_t kSteps[] = {0, 0, 0, 0, 0, 1, -1, 1, -1, 8, -8, -16, 16, -24};
  const int64_t step = kSteps[random_below(random, sizeof kSteps / sizeof *kSteps)];
  return step < 0 && size <= (uint64_t)-step ? size : size + (uint64_t)step;
}

uint64_t draw_size(uint64_t* random, uint64_t most) {
  const uint64_t choice = random_below(random, 100);
  uint64_t size = 0;
  if (choice < 25) {
    size = beside(random, draw_listed(random, 0, head->threshold_count, most));
  } else if (choice < 45) {
    size = beside(random, draw_listed(random, head->threshold_count, head->size_count, most));
  } else if (choice < 65) {
    /* Allocators' limits are mostly powers of two above a page. */
    uint64_t power = log_uniform(random, choice % 2 == 0 && most > page_bytes() ? page_bytes() : 1, most);
    while ((power & (power - 1)) != 0) power &= power - 1;
    size = beside(random, power);
  } else if (choice < 75 && most > page_bytes()) {
    size = beside(random, log_uniform(random, 1, most / page_bytes()) * page_bytes());
  } else {
    size = log_uniform(random, 1, most);
  }
  return size > most ? most : size;
}

static uint32_t chance(uint64_t* random, uint32_t percent, uint32_t least, uint32_t most) {
  if (random_below(random, 100) >= percent) return 0;
  return (uint32_t)log_uniform(random, least, most);
}

static void draw_rows(uint64_t random, struct profile* profile) {
  static const uint32_t kWeights[] = {25, 35, 15, 3, 3, 4, 3, 2, 1};
  for (uint32_t i = 0; i < row_count; ++i) {
    uint32_t weight = i < sizeof kWeights / sizeof *kWeights ? kWeights[i] : 3;
    const uint64_t part = random_below(&random, 8);
    if (i > kRowRealloc || (i == kRowRealloc && part == 0)) weight *= part < 4 ? 0 : part < 7 ? 1 : 4;
    if (i > kRowPvalloc && rows[i].promise != kPromiseNone) weight = part < 3 ? 0 : 5;
    if (!is_usable(i)) weight = 0;
    profile->row_weights[i] = weight;
    profile->row_weight += weight;
  }
  if (profile->row_weight == 0) profile->row_weight = profile->row_weights[kRowMalloc] = 1;
}

static void draw_fills(uint64_t random, struct profile* profile) {
  static const uint32_t kWeights[kFills] = {2, 8, 2, 2, 2, 2, 2, 2, 2, 2};
  /* Writing all bytes of a large block takes much of an episode's time. */
  static const uint32_t kSparse[kFills] = {1, 1, 4, 1, 4, 0, 1, 0, 4, 8};
  const uint32_t* const usual =
      profile->kind != kEpisodeMixed && profile->most_size > 4 * kMiB ? &kSparse[0] : &kWeights[0];
  const int has_one = random_below(&random, 3) == 0 && usual == kWeights;
  const uint64_t only = 1 + random_below(&random, kFills - 1);
  for (uint32_t i = 0; i < kFills; ++i) {
    const uint32_t weight = has_one ? (i == only ? 6 : i == kFillNone) : random_below(&random, 3) == 0 ? 0 : usual[i];
    profile->fill_weights[i] = weight;
    profile->fill_weight += weight;
  }
  if (profile->fill_weight == 0) profile->fill_weight = profile->fill_weights[kFillEnds] = 1;
}

struct part_of_sizes {
  uint32_t percent;
  uint32_t shift;
};

static uint64_t draw_most_size(uint64_t* random, const struct part_of_sizes* parts) {
  uint64_t at = random_below(random, 100);
  for (; at >= parts->percent; ++parts) at -= parts->percent;
  const uint64_t most = (uint64_t)1 << parts->shift;
  return most > head->most_bytes / 8 ? head->most_bytes / 8 : most;
}

static void draw_sizes(uint64_t random, struct profile* profile) {
  static const struct part_of_sizes kMost[] = {{14, 9}, {24, 13}, {19, 16}, {20, 20}, {13, 23}, {7, 25}, {3, 28}};
  static const struct part_of_sizes kReused[] = {{8, 9}, {16, 13}, {16, 16}, {24, 20}, {14, 22}, {14, 25}, {8, 28}};
  static const struct part_of_sizes kGiven[] = {{18, 9}, {24, 13}, {16, 16}, {10, 20}, {22, 22}, {10, 24}};
  const int is_reuse = profile->kind == kEpisodeReuse;
  const int is_free = profile->kind == kEpisodeFree;
  profile->most_size = draw_most_size(&random, is_reuse ? kReused : is_free ? kGiven : kMost);
  /* Small blocks cost less, so their sequences are longer. */
  profile->calls = log_uniform(&random, 300, profile->most_size <= 1 << 16 ? 400000 : 50000);
  profile->most_live = (uint32_t)log_uniform(&random, 1, profile->most_size <= 1 << 13 ? 3000 : 200);
  profile->most_live_bytes = profile->most_size * 4 > 64 * kMiB ? profile->most_size * 3 : 64 * kMiB;
  profile->palette_count = 1 + (uint32_t)random_below(&random, kPalette);
  for (uint32_t k = 0; k < profile->palette_count; ++k) profile->palette[k] = draw_size(&random, profile->most_size);
  profile->bytes = (32 * kMiB) << random_below(&random, 4);
  if (profile->bytes < profile->most_size * 4) profile->bytes = profile->most_size * 4;
  if (!is_reuse) return;
  profile->calls = log_uniform(&random, 200, 20000);
  profile->most_live = (uint32_t)random_below(&random, 6);
  profile->keeps_to_palette = random_below(&random, 2) == 0;
  if (profile->most_size > 4 * kMiB) profile->bytes = profile->most_size * 24;
}

/* Blocks of more than 2 GiB and 4 GiB, of which the program writes a few pages. */
static void make_huge(uint64_t random, struct profile* profile, uint64_t episode) {
  const uint64_t base = (episode / kHugeEvery % 2 == 0 && has_room_for(4 * kGiB) ? 4 : 2) * kGiB;
  profile->is_huge = 1;
  profile->most_size = base + 64 * kMiB;
  profile->palette_count = 1;
  profile->palette[0] = base + (random_below(&random, 4) == 0 ? 0 : log_uniform(&random, 1, 48 * kMiB));
  profile->most_live = 1;
  profile->most_live_bytes = profile->most_size;
  profile->calls = 12;
  /* The second call of calloc is the last one, and may reuse the first block. */
  profile->bytes = profile->palette[0] + 1;
  memset(profile->row_weights, 0, sizeof profile->row_weights);
  profile->row_weight = profile->row_weights[kRowCalloc] = 1;
  memset(profile->fill_weights, 0, sizeof profile->fill_weights);
  profile->fill_weight = profile->fill_weights[kFillEnds] = 1;
}

static void draw_events(uint64_t random, struct profile* profile) {
  const int is_long = profile->kind == kEpisodePauses;
  const int has_threads = profile->kind == kEpisodeFree;
  profile->forks = has_threads ? 0 : chance(&random, 35, 10, 300);
  profile->limits = has_threads ? 0 : chance(&random, 30, 20, 500);
  profile->trims = chance(&random, 25, 2, 200);
  /* Long pauses reach purges that wait for a second. Few episodes have long pauses, because each pause takes more than
   * a second. */
  profile->pauses = chance(&random, is_long ? 100 : 25, 2, 40);
  profile->most_pause = is_long ? 600000 * (1 + random_below(&random, 2)) : log_uniform(&random, 500, 60000);
  profile->all_pauses = is_long ? 1500000 : 120000;
  if (profile->kind != kEpisodeReuse) return;
  profile->all_pauses = 300000;
  profile->most_pause = log_uniform(&random, 4000, 60000);
  for (int i = 0; i < kEvents; ++i) profile->event_weights[i] = (uint32_t)random_below(&random, 3) * 2;
}

static void draw_threads(uint64_t random, struct profile* profile) {
  profile->threads = 1;
  if (head->threads < 2) return;
  profile->is_free_running = profile->kind == kEpisodeFree;
  if (!profile->is_free_running && random_below(&random, 100) >= 40) return;
  profile->threads = 2 + (uint32_t)random_below(&random, head->threads - 1);
  profile->switches = (uint32_t)log_uniform(&random, 20, 5000);
  profile->starts = (uint32_t)log_uniform(&random, 5, 300);
  profile->gives = (uint32_t)log_uniform(&random, 2, kAlways);
  profile->has_roles = random_below(&random, 3) != 0;
  if (profile->is_free_running && profile->has_roles) profile->gives = kAlways;
}

static void draw_shape(uint64_t random, struct profile* profile) {
  profile->order = (enum free_order)random_below(&random, 3);
  profile->verifies = chance(&random, 50, 10, 500);
  profile->refills = chance(&random, 40, 10, 500);
  profile->drains = chance(&random, 50, 2, 300);
  profile->overflows = chance(&random, 40, 10, 200);
}

int has_room_for(uint64_t bytes) { return bytes + 2 * kGiB < head->most_bytes; }

struct profile draw_profile(const struct head* of) {
  struct profile profile = {.kind = (enum episode_kind)of->kind, .threads = 1};
  draw_sizes(of->genes[kGeneSizes], &profile);
  draw_rows(of->genes[kGeneRows], &profile);
  draw_fills(of->genes[kGeneFills], &profile);
  draw_shape(of->genes[kGeneShape], &profile);
  if (of->kind == kEpisodeHuge) {
    make_huge(of->genes[kGeneSizes], &profile, of->episode);
    return profile;
  }
  draw_events(of->genes[kGeneEvents], &profile);
  draw_threads(of->genes[kGeneThreads], &profile);
  /* The first episodes are short, because many short sequences find most mistakes soon. */
  if (of->episode < kShort && profile.calls > kShortCalls) profile.calls = kShortCalls;
  if (of->episode < kShort && profile.bytes > 64 * kMiB) profile.bytes = 64 * kMiB;
  return profile;
}

void probe_sizes(void) {
  if (usable_size == NULL) return;
  for (uint64_t size = 1; size <= kMostProbed && head->size_count < kMostSizes;) {
    const struct op op = {.n = size};
    void* const block = (void*)(uintptr_t)call_row(&rows[kRowMalloc], &op, (struct operand){0});
    if (block == NULL) return;
    const uint64_t usable = usable_size(block);
    release_block(&rows[kRowMalloc], (struct operand){block, size}, 0);
    if (usable < size || usable > (size_t)2 * kMostProbed) return;
    head->sizes[head->size_count++] = usable;
    size = usable + 1;
    /* An allocator whose usable size is the requested size has no visible classes. */
    if (size < usable + usable / 64) size = usable + usable / 64;
  }
}
