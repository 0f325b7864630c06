#include "prove/process/guide.h"

#include <string.h>

#include "prove/process/own.h"
#include "prove/process/profile.h"

enum { kKept = 256, kTries = 16, kHugeFirst = 22, kPausesEvery = 16, kPausesFirst = 11 };

/* A huge episode takes a few seconds. */
static const double kHugeSeconds = 15;
static const uint64_t kLeastHuge = (uint64_t)2 << 30;

/* An episode that reached new features. */
struct kept {
  uint64_t genes[kGenes];
  uint32_t kind;
};

static struct kept kept[kKept];
static uint64_t kept_count;
static uint64_t changed;
static int is_seed_only;
static uint8_t known[kFeatures / 8];

void use_seed_only(void) { is_seed_only = 1; }

static enum episode_kind kind_of(uint64_t number, double seconds_left) {
  static const enum episode_kind kTurns[] = {kEpisodeReuse, kEpisodeMixed, kEpisodeReuse, kEpisodeFree,  kEpisodeMixed,
                                             kEpisodeReuse, kEpisodeMixed, kEpisodeReuse, kEpisodeMixed, kEpisodeFree};
  if (head->only_kind != 0) return (enum episode_kind)head->only_kind;
  if (number % kHugeEvery == kHugeFirst && seconds_left > kHugeSeconds && has_room_for(kLeastHuge)) return kEpisodeHuge;
  if (number % kPausesEvery == kPausesFirst) return kEpisodePauses;
  const enum episode_kind kind = kTurns[number % (sizeof kTurns / sizeof *kTurns)];
  return kind == kEpisodeFree && head->threads < 2 ? kEpisodeMixed : kind;
}

/* Returns a kept episode of this kind, or NULL. The kind stays the same, so that the kinds take turns. The
 * newest episodes are preferred, because their features are rare. */
static const struct kept* some_kept(uint64_t* random, uint32_t kind) {
  const uint64_t room = kept_count < kKept ? kept_count : kKept;
  for (int i = 0; i < kTries && room != 0 && !is_seed_only; ++i) {
    const uint64_t back = 1 + random_below(random, 1 + random_below(random, room));
    const struct kept* const found = &kept[(kept_count - back) % kKept];
    if (found->kind == kind) return found;
  }
  return NULL;
}

void choose_episode(struct head* of, uint64_t seed, uint64_t number, double seconds_left) {
  uint64_t random = seed ^ (number + 1) << 32;
  of->episode = number;
  of->seed = random_bits(&random);
  of->kind = kind_of(number, seconds_left);
  for (int i = 0; i < kGenes; ++i) of->genes[i] = random_bits(&random);
  of->watches_pages = random_below(&random, 4) == 0;
  const struct kept* const from = random_below(&random, 2) == 0 ? NULL : some_kept(&random, of->kind);
  if (from == NULL) return;
  const uint64_t first = random_below(&random, kGenes);
  const uint64_t second = random_below(&random, kGenes);
  for (uint64_t i = 0; i < kGenes; ++i) {
    if (i != first && i != second) of->genes[i] = from->genes[i];
  }
  ++changed;
}

void note_outcome(const struct head* of) {
  for (size_t i = 0; i < sizeof known; ++i) known[i] |= of->features[i];
  if (of->feature_count == 0 || of->kind == kEpisodeHuge || of->kind == kEpisodeClasses) return;
  struct kept* const to = &kept[kept_count++ % kKept];
  memcpy(to->genes, of->genes, sizeof to->genes);
  to->kind = of->kind;
}

void give_features(struct head* of) {
  memcpy(of->features, known, sizeof known);
  of->feature_count = 0;
}

uint64_t known_features(void) {
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof known; ++i) sum += (uint64_t)__builtin_popcount(known[i]);
  return sum;
}

uint64_t changed_episodes(uint64_t* count_of_kept) {
  *count_of_kept = kept_count < kKept ? kept_count : kKept;
  return changed;
}
