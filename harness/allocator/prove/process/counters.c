#include "prove/process/counters.h"

#include <stdio.h>
#include <string.h>

#include "prove/process/guide.h"
#include "prove/process/own.h"

static const char* const kOpKindNames[kOpKinds] = {"",      "call", "free",  "fill", "verify", "fork",
                                                   "pause", "trim", "start", "end",  "limit"};
const char* const kind_names[kEpisodeKinds] = {"classes", "mixed", "reuse", "free_running", "huge", "pauses"};
static const char* const kEventNames[kEvents] = {"pause", "trim", "limit", "fork", "thread_end"};

/* Adds a head's counters, which lie one after another, to the sum. */
static void add_counters(struct head* sum, const struct head* of) {
  const size_t from = offsetof(struct head, calls);
  const size_t words = (offsetof(struct head, feature_count) - from) / sizeof(uint64_t);
  const uint64_t* const added = (const uint64_t*)(const void*)((const char*)of + from);
  uint64_t* const to = (uint64_t*)(void*)((char*)sum + from);
  for (size_t i = 0; i < words; ++i) to[i] += added[i];
  sum->crashes_at_limit += of->crashes_at_limit;
}

static void print_array(const char* name, const uint64_t* values, int length) {
  char line[512];
  int used = 0;
  for (int i = 0; i < length; ++i) {
    used += snprintf(line + used, sizeof line - (size_t)used, " %llu", (unsigned long long)values[i]);
  }
  print_line("%s%s", name, line);
}

static void print_named(const char* name, const char* const* names, const uint64_t* values, int from, int to) {
  for (int i = from; i < to; ++i) print_line("%s %s %llu", name, names[i], (unsigned long long)values[i]);
}

/* Only watched pages can show that nobody zeroed them, and a quarter of the episodes watches pages. */
static void print_by_nobody(const struct head* sum, uint32_t why_unwatched) {
  if (why_unwatched != 0) {
    print_line("zeroed_by_nobody na the kernel cannot watch pages for writes (userfaultfd, PAGEMAP_SCAN): %s",
               strerror((int)why_unwatched));
    return;
  }
  print_line("watched_pages %llu zeroed_by_nobody %llu", (unsigned long long)sum->watched_pages,
             (unsigned long long)sum->untouched_pages);
  print_array("zeroed_by_nobody_by_decade", sum->by_nobody, kDecades);
}

void print_counters(const struct slot* slots, uint32_t count_of_slots, const struct run_facts* facts) {
  static struct head sum;
  for (uint32_t i = 0; i < count_of_slots; ++i) add_counters(&sum, slots[i].head);
  const unsigned long long operations = operations_of(&sum);
  uint64_t kept = 0;
  print_line("cpu_seconds %.3f", facts->cpu_seconds);
  print_line("seconds %.3f episodes %llu operations %llu per_second %.0f", facts->seconds,
             (unsigned long long)facts->episodes, operations, (double)operations / facts->seconds);
  print_line("jobs %u", count_of_slots);
  print_line("checked_bytes %llu per_second %.0f written_bytes %llu null_results %llu",
             (unsigned long long)sum.checked_bytes, (double)sum.checked_bytes / facts->seconds,
             (unsigned long long)sum.written_bytes, (unsigned long long)sum.null_results);
  print_named("episodes_of_kind", kind_names, facts->of_kind, kEpisodeMixed, kEpisodeKinds);
  print_named("operations_of_kind", kOpKindNames, sum.calls, kOpCall, kOpKinds);
  print_line("crashes_at_limit %u", sum.crashes_at_limit);
  print_line("late_episodes %u", facts->late);
  print_line("stray_processes %u", facts->strays);
  print_line("zeroing_calls %llu", (unsigned long long)sum.callocs);
  print_array("reused_by_decade_main", sum.reused[0], kDecades);
  print_array("reused_by_decade_other", sum.reused[1], kDecades);
  print_array("reused_by_fill", sum.reused_fill, kFills);
  print_named("reused_after", kEventNames, sum.reused_event, 0, kEvents);
  print_line("reused_freed_by_other_thread %llu", (unsigned long long)sum.reused_other_thread);
  print_line("reused_pages %llu unpopulated %llu", (unsigned long long)sum.reused_pages,
             (unsigned long long)sum.reused_unpopulated);
  print_by_nobody(&sum, slots[0].head->why_unwatched);
  print_line("features %llu", (unsigned long long)known_features());
  const unsigned long long changed = changed_episodes(&kept);
  print_line("kept_episodes %llu changed_episodes %llu", (unsigned long long)kept, changed);
}
