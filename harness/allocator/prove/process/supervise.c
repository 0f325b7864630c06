#define _GNU_SOURCE
#include "prove/process/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prove/process/aside.h"
#include "prove/process/counters.h"
#include "prove/process/execute.h"
#include "prove/process/guide.h"
#include "prove/process/own.h"
#include "prove/process/rows.h"

enum { kCapacity = 2100000, kFound = 1, kBadInput = 2, kCannotMeasure = 3, kLook = 25 /* milliseconds */ };

static struct slot slots[kMostSlots];
static uint32_t slot_count;
static struct run_facts facts;
static uint64_t deadline;
static volatile sig_atomic_t is_interrupted;
static char stopped[512];

static void interrupt(int signal) { is_interrupted = signal; }

/* Returns the bytes of memory that /proc/meminfo calls available. */
static uint64_t available_bytes(void) {
  char text[4096] = {0};
  const int file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, text, sizeof text - 1) <= 0) return 0;
  close(file);
  const char* const at = strstr(text, "MemAvailable:");
  return at == NULL ? 0 : strtoull(at + 13, NULL, 10) * 1024U;
}

/* Returns the CPU seconds of all episodes. */
static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Sets aside the findings and functions that --without names. */
static void leave_out(const struct request* request) {
  for (uint32_t i = 0; i < request->without_count; ++i) {
    int is_known = 0;
    for (unsigned k = 0; k < kFindings; ++k) {
      if (strcmp(finding_names[k], request->without[i]) != 0) continue;
      head->ignored |= (uint64_t)1 << k;
      is_known = 1;
    }
    for (uint32_t k = 0; k < row_count; ++k) {
      if (strcmp(rows[k].symbol, request->without[i]) != 0) continue;
      head->left_out[k / 64] |= (uint64_t)1 << k % 64;
      is_known = 1;
    }
    if (!is_known) give_up("--without: no finding or function %.60s", request->without[i]);
  }
}

static void choose_kind(const char* name) {
  for (uint32_t i = kEpisodeMixed; i < kEpisodeKinds; ++i) {
    if (name != NULL && strcmp(kind_names[i], name) == 0) head->only_kind = i;
  }
  if (name != NULL && head->only_kind == 0) give_up("--kind: no kind of episode is called %.60s", name);
}

static uint32_t count_of_cpus(void) {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  const int count_of_set = CPU_COUNT(&cpus);
  return count_of_set > kMostSlots ? kMostSlots : (uint32_t)count_of_set;
}

static void prepare(const struct request* request) {
  slot_count = request->jobs == 0 ? count_of_cpus() : request->jobs;
  for (uint32_t i = 0; i < slot_count; ++i) {
    struct slot* const slot = &slots[i];
    snprintf(slot->path, sizeof slot->path, i == 0 ? "%s" : "%s.%u", request->record, i);
    unlink(slot->path);
    slot->head = head = map_head(slot->path, kCapacity);
    head->threads = request->threads;
    head->most_bytes = (request->memory != 0 ? request->memory : available_bytes()) / slot_count;
    head->threshold_count = head->size_count = request->size_count;
    memcpy(head->sizes, request->sizes, request->size_count * sizeof *request->sizes);
    leave_out(request);
    choose_kind(request->kind);
  }
  head = slots[0].head;
}

/* Keeps a sentence that says why nothing can be measured. It is printed last. */
static __attribute__((format(printf, 1, 2))) int stop(const char* form, ...) {
  va_list values;
  va_start(values, form);
  vsnprintf(stopped, sizeof stopped, form, values);  // NOLINT(clang-analyzer-valist.Uninitialized): it is initialized
  va_end(values);
  return kCannotMeasure;
}

/* Prints a finding that the process could not enter itself. */
static int found(const struct slot* slot, const char* name, const char* what, int value) {
  print_line("finding %s id=%llu %s=%d", name, (unsigned long long)slot->head->ops, what, value);
  return kFound;
}

/* Judges an episode whose process ended early, and did not enter a finding. */
static int judge_end(const struct slot* slot, int status) {
  const struct head* const of = slot->head;
  const int is_signal = WIFSIGNALED(status);
  const int code = is_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  if (of->stage == kStageNone && is_signal)
    return stop("signal %d ends a program in which the library is loaded", code);
  if (of->stage == kStageNone) return stop("the library ends the program with status %d before its first call", code);
  if (!is_signal && code > kFound && of->message[0] != 0) {
    dprintf(STDERR_FILENO, "%s\n", of->message);
    stop("%s", of->message);
    return code == kBadInput ? kBadInput : kCannotMeasure;
  }
  if (is_signal && code == SIGKILL)
    return stop("the kernel or another process killed an episode, as when memory is short");
  return is_signal ? found(slot, "crashed", "signal", code) : found(slot, "exited", "status", code);
}

/* Returns the exit status of this program, or 0 if another episode may follow. */
static int judge(struct slot* slot, enum ending ending, int status) {
  struct head* const of = slot->head;
  if (of->finding != kNoFinding) {
    if (of->finding_op != 0 && of->finding_op < of->ops) of->ops = of->finding_op;
    return kFound;
  }
  if (ending == kTookMemory) {
    return stop("an episode took %llu bytes of memory, more than half of the available %llu bytes",
                (unsigned long long)slot->resident, (unsigned long long)of->most_bytes);
  }
  if (ending == kForked) return stop("the library starts processes without end");
  if (ending == kHung && of->stage == kStageNone) {
    return stop("a program in which the library is loaded does not start within 8 s");
  }
  if (ending == kLate && of->kind != kEpisodeHuge && slot->is_stuck) {
    return stop("a call had not returned when the time ended");
  }
  if (ending == kLate) {
    ++facts.late;
    return 0;
  }
  if (ending == kEnded && WIFEXITED(status) && WEXITSTATUS(status) == 0 && of->stage == kStageFinished) return 0;
  /* An allocator that cannot continue without memory breaks no promise of contents. */
  if (of->is_limited) {
    if (of->crashes_at_limit++ == 0) print_line("crashed_at_limit episode %llu", (unsigned long long)of->episode);
    return 0;
  }
  if (of->kind == kEpisodeClasses && ending == kHung) return stop("a call of malloc does not return within 8 s");
  return ending == kHung ? found(slot, "hung", "seconds", 8) : judge_end(slot, status);
}

static double seconds_until(uint64_t then) { return ((double)then - (double)now_ns()) / 1e9; }

static void begin(struct slot* slot, const struct request* request) {
  struct head* const of = slot->head;
  of->ops = 0;
  of->is_limited = 0;
  of->deadline = deadline;
  give_features(of);
  start_slot(slot, request->preload, request->api);
}

/* Waits until a slot's process ends. */
static struct slot* wait_for_slot(enum ending* ending, int* status) {
  struct pollfd ended[kMostSlots];
  for (;;) {
    for (uint32_t i = 0; i < slot_count; ++i) {
      ended[i] = (struct pollfd){.fd = slots[i].process == 0 ? -1 : slots[i].handle, .events = POLLIN};
    }
    poll(ended, slot_count, kLook);
    if (is_interrupted) return NULL;
    uint32_t idle = 0;
    for (uint32_t i = 0; i < slot_count; ++i) {
      if (slots[i].process == 0) {
        ++idle;
        continue;
      }
      *ending = look_at(&slots[i], status);
      if (*ending != kRuns) return &slots[i];
    }
    if (idle == slot_count) return NULL;
  }
}

/* Finds the functions and the size classes in a separate process, which an allocator may crash or hang. */
static int find_classes(const struct request* request) {
  enum ending ending = kRuns;
  int status = 0;
  head->kind = kEpisodeClasses;
  begin(&slots[0], request);
  if (wait_for_slot(&ending, &status) == NULL) return 0;
  const int result = judge(&slots[0], ending, status);
  if (result != 0) return result;
  if (head->stage != kStageFinished) return stop("the search for size classes did not end in time");
  for (uint32_t i = 1; i < slot_count; ++i) {
    memcpy(slots[i].head->sizes, head->sizes, sizeof head->sizes);
    slots[i].head->size_count = head->size_count;
  }
  print_line("library %s", head->message);
  head->message[0] = 0;
  for (uint32_t i = 0; i < row_count; ++i) {
    if ((head->missing[i / 64] >> i % 64 & 1) != 0) print_line("missing %s", rows[i].symbol);
  }
  print_line("sizes %u thresholds %u classes", head->threshold_count, head->size_count - head->threshold_count);
  return 0;
}

static int may_begin(const struct request* request) {
  unsigned long long operations = 0;
  for (uint32_t i = 0; i < slot_count; ++i) operations += operations_of(slots[i].head);
  return !is_interrupted && now_ns() < deadline && (request->calls == 0 || operations < request->calls) &&
         (request->cpu_seconds <= 0 || cpu_seconds() < request->cpu_seconds);
}

static void print_record(const struct head* of, const struct request* request) {
  if (of->finding != kNoFinding) print_finding(of);
  print_line("record %s episode %llu seed %llu operations %llu", request->record, (unsigned long long)of->episode,
             (unsigned long long)request->seed, (unsigned long long)of->ops);
}

static int run_episodes(const struct request* request) {
  uint64_t next = request->first_episode;
  enum ending ending = kRuns;
  int status = 0;
  int result = 0;
  while (result == 0) {
    for (uint32_t i = 0; i < slot_count && may_begin(request); ++i) {
      if (slots[i].process != 0) continue;
      leave_kept_out(slots[i].head);
      choose_episode(slots[i].head, request->seed, next++, seconds_until(deadline));
      begin(&slots[i], request);
      ++facts.episodes;
      ++facts.of_kind[slots[i].head->kind];
    }
    struct slot* const slot = wait_for_slot(&ending, &status);
    if (slot == NULL) break;
    note_outcome(slot->head);
    result = judge(slot, ending, status);
    if (result != kFound) continue;
    if (keep_aside(slot, request->record)) {
      result = 0;
      continue;
    }
    print_record(slot->head, request);
    /* Later output comes from the mappings, not from the files. */
    if (slot != &slots[0] && rename(slot->path, request->record) != 0) give_up("%s: %s", slot->path, strerror(errno));
  }
  return result;
}

int supervise(const struct request* request) {
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  /* As root, the supervisor runs even while a library starts processes without end. */
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &(struct sched_param){.sched_priority = 1});
  prepare(request);
  const uint64_t began = now_ns();
  deadline = began + (uint64_t)(request->seconds * 1e9);
  int result = find_classes(request);
  if (result == 0) result = run_episodes(request);
  for (uint32_t i = 0; i < slot_count; ++i) {
    end_slot(&slots[i]);
    facts.strays += slots[i].strays;
    if (i != 0) unlink(slots[i].path);
  }
  facts.strays += end_strays();
  const struct head* const aside = result == 0 ? take_aside(request->record) : NULL;
  if (aside != NULL) {
    print_record(aside, request);
    result = kFound;
  }
  facts.seconds = (double)(now_ns() - began) / 1e9;
  facts.cpu_seconds = cpu_seconds();
  if (is_interrupted) print_line("interrupted");
  if (result == 0 && facts.late != 0 && facts.late == facts.episodes) result = stop("no episode ended in time");
  print_counters(slots, slot_count, &facts);
  if (stopped[0] != 0) print_line("stopped %s", stopped);
  return result;
}
