/* Checks that the preloaded allocator keeps its promises. The supervisor starts one process for each episode
 * and stops at the first finding.
 *
 *   zerotax-prove-calls --seed N --seconds N [--cpu-seconds N] [--calls N] [--threads N] [--memory BYTES] [--size N]...
 *                       [--sizes FILE] [--api FILE] [--without NAME]... [--lines FILE] --record FILE
 *   zerotax-prove-calls --replay FILE [--api FILE] [--lines FILE]
 *
 * FILE of --record receives the operations of the episode, up to the finding. FILE of --api has rows (rows.h). FILE of
 * --sizes has sizes in bytes. FILE of --lines receives the output, because the library may print to the standard
 * streams. NAME is a finding or a function that is known and set aside. Exit status: 0 no finding; 1 a finding; 2
 * unusable input; 3 no memory. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "prove/process/execute.h"
#include "prove/process/guide.h"
#include "prove/process/history.h"
#include "prove/process/own.h"
#include "prove/process/rows.h"
#include "prove/process/slot.h"
#include "prove/process/supervise.h"
#include "prove/process/threads.h"
#include "prove/process/watched_pages.h"

static struct profile profile;
static struct generator generator;
static uint64_t replayed;

static int next_generated(struct op* op) {
  if (is_over(head->ops) || !next_op(&generator, op)) return 0;
  return append(op);
}

static void generated_done(const struct op* op) { settle(&generator, op); }

static int next_replayed(struct op* op) {
  if (replayed == head->ops) return 0;
  *op = ops[replayed++];
  return 1;
}

static void replayed_done(const struct op* op) { (void)op; }

/* Performs the episode that the head describes. */
static void run_episode(const char* record) {
  map_record(record);
  keep_message_in(head->message, sizeof head->message);
  head->stage = kStageStarted;
  find_rows();
  if (head->kind == kEpisodeClasses) {
    probe_sizes();
    head->stage = kStageFinished;
    return;
  }
  profile = draw_profile(head);
  open_blocks(head->capacity + 2, (uint64_t)profile.most_live * kMostThreads + (uint64_t)64 * kMostThreads);
  open_history();
  if (head->watches_pages) open_watched_pages();
  if (profile.is_free_running) {
    run_freely(&profile, head->seed);
  } else {
    generator = new_generator(&profile, head->seed);
    run_in_turns(&(struct source){next_generated, generated_done});
  }
  verify_all();
  head->stage = kStageFinished;
}

static void replay(const char* record) {
  uint32_t most = 0;
  map_record(record);
  find_rows();
  head->watches_pages = 0;
  head->is_limited = 0;
  for (uint64_t i = 0; i < head->ops; ++i) {
    if (ops[i].kind == 0 || ops[i].kind >= kOpKinds || ops[i].row >= row_count || ops[i].fill >= kFills ||
        ops[i].lg > 40 || (ops[i].kind == kOpCall && ops[i].id == 0)) {
      give_up("%s: operation %llu is invalid", record, (unsigned long long)i);
    }
    if (ops[i].id > most) most = ops[i].id;
    if (ops[i].block > most) most = ops[i].block;
  }
  head->finding = kNoFinding;
  open_blocks((uint64_t)most + 2, head->ops + 1);
  open_history();
  run_in_turns(&(struct source){next_replayed, replayed_done});
  verify_all();
}

static void add_size(struct request* request, const char* word) {
  char* end = NULL;
  const uint64_t size = strtoull(word, &end, 10);
  if (end == word || request->size_count == kMostThresholds) give_up("--size: %.40s", word);
  request->sizes[request->size_count++] = size;
}

static void add_sizes(struct request* request, const char* text) {
  for (text += strspn(text, " \n\t"); *text != 0; text += strspn(text, " \n\t")) {
    add_size(request, text);
    text += strcspn(text, " \n\t");
  }
}

/* Reads one option with its value. */
static void read_option(struct request* request, const char* name, const char* value) {
  if (strcmp(name, "--seed") == 0) {
    request->seed = strtoull(value, NULL, 10);
  } else if (strcmp(name, "--seconds") == 0) {
    request->seconds = strtod(value, NULL);
  } else if (strcmp(name, "--cpu-seconds") == 0) {
    request->cpu_seconds = strtod(value, NULL);
  } else if (strcmp(name, "--calls") == 0) {
    request->calls = strtoull(value, NULL, 10);
  } else if (strcmp(name, "--episode") == 0) {
    request->first_episode = strtoull(value, NULL, 10);
  } else if (strcmp(name, "--threads") == 0) {
    request->threads = (uint32_t)strtoul(value, NULL, 10);
  } else if (strcmp(name, "--memory") == 0) {
    request->memory = strtoull(value, NULL, 10);
  } else if (strcmp(name, "--jobs") == 0) {
    request->jobs = (uint32_t)strtoul(value, NULL, 10);
  } else if (strcmp(name, "--kind") == 0) {
    request->kind = value;
  } else if (strcmp(name, "--guide") == 0) {
    if (strcmp(value, "0") == 0) use_seed_only();
  } else if (strcmp(name, "--preload") == 0) {
    request->preload = value;
  } else if (strcmp(name, "--size") == 0 || strcmp(name, "--threshold") == 0) {
    add_size(request, value);
  } else if (strcmp(name, "--sizes") == 0) {
    add_sizes(request, read_text(value));
  } else if (strcmp(name, "--without") == 0) {
    if (request->without_count == kMostWithout) give_up("more than %d words --without", kMostWithout);
    request->without[request->without_count++] = value;
  } else if (strcmp(name, "--api") == 0) {
    request->api = value;
  } else if (strcmp(name, "--lines") == 0) {
    request->lines = value;
    write_lines_to(value);
  } else if (strcmp(name, "--record") == 0) {
    request->record = value;
  } else if (strcmp(name, "--replay") == 0) {
    request->replay = value;
  } else if (strcmp(name, "--run-episode") == 0) {
    request->episode_record = value;
  } else {
    give_up("unknown option %.60s", name);
  }
}

int main(int argc, char** argv) {
  static struct request request = {.seed = 1, .seconds = 60, .threads = 4};
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) give_up("%.60s needs a value", argv[i]);
    read_option(&request, argv[i], argv[i + 1]);
  }
  if (request.jobs > kMostSlots) give_up("--jobs: at most %d", kMostSlots);
  if (request.threads == 0 || request.threads > kMostThreads) give_up("--threads: 1 to %d", kMostThreads);
  read_rows(request.api != NULL ? read_text(request.api) : NULL);
  if (request.episode_record != NULL) {
    run_episode(request.episode_record);
  } else if (request.replay != NULL) {
    print_findings();
    replay(request.replay);
  } else {
    if (request.record == NULL) give_up("--record FILE is missing");
    note_start(argv[0]);
    return supervise(&request);
  }
  _Exit(0);
}
