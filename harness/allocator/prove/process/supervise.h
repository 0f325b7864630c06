#pragma once

/* Runs episodes, each in a process of its own, and prints findings and counters. */

#include <stdint.h>

enum { kMostThresholds = 400, kMostWithout = 16 };

struct request {
  uint64_t seed;
  double seconds;
  double cpu_seconds; /* 0: no limit */
  uint64_t calls;     /* 0: no limit */
  uint64_t first_episode;
  uint64_t memory; /* bytes that blocks may take; 0: all available memory */
  uint32_t threads;
  uint32_t jobs; /* 0: one for each CPU */
  uint32_t size_count;
  uint64_t sizes[kMostThresholds];
  uint32_t without_count;
  const char* without[kMostWithout];
  const char* kind; /* the kind of all episodes; NULL: all kinds */
  const char* api;
  const char* lines;
  const char* preload;
  const char* record;
  const char* replay;
  const char* episode_record;
};

/* Returns the exit status. */
int supervise(const struct request* request);
