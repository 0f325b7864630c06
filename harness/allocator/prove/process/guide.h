#pragma once

/* Chooses the episodes. The kinds take turns. One half of the episodes is drawn from the seed alone. The other half
 * changes one or two genes of an earlier episode that reached new features. */

#include "prove/process/record.h"

/* Enters the kind, the genes and the seed of the episode with this number. */
void choose_episode(struct head* of, uint64_t seed, uint64_t number, double seconds_left);
/* Remembers the episode, if it reached new features, and merges its features. */
void note_outcome(const struct head* of);
/* Enters the features that are known, so that the episode counts new ones only. */
void give_features(struct head* of);
uint64_t known_features(void);
/* Returns the number of episodes that were changed, and in `kept` how many are remembered. */
uint64_t changed_episodes(uint64_t* kept);
/* Turns off the changes. */
void use_seed_only(void);
