#pragma once

/* Chooses the episodes. The kinds take turns. One half of the episodes is drawn from the seed alone. The other half
 * changes one or two genes of an earlier episode that reached new features. */

#include "prove/process/record.h"

/* Enters the kind, the genes and the seed of the episode with this number. */
void choose_episode(struct head* of, uint64_t seed, uint64_t number, double seconds_left);
/* Keeps the episode if the episode reached new features, and adds its features to the known features. */
void note_outcome(const struct head* of);
/* Enters the known features in the head, so that the episode counts only new features. */
void give_features(struct head* of);
uint64_t known_features(void);
/* Returns the number of changed episodes, and in `kept` the number of kept episodes. */
uint64_t changed_episodes(uint64_t* kept);
/* From now on, draws every episode from the seed, and changes no kept episode. */
void use_seed_only(void);
