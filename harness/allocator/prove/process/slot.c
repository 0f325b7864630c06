#define _GNU_SOURCE
#include "prove/process/slot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prove/process/own.h"

enum { kMostVariables = 4096, kRounds = 50, kMostWords = 16, kOwnWords = 5, kMostProcesses = 256 };

/* Nanoseconds. */
static const uint64_t kHungAfter = 8000000000U;
static const uint64_t kLateAfter = 5000000000U;
static const uint64_t kLongCall = 4000000000U;

/* The words that start this program: itself, or a loader, its options and this program. */
static const char* start_words[kMostWords] = {"zerotax-prove-calls"};
static int start_count = 1;

unsigned long long operations_of(const struct head* of) {
  unsigned long long sum = 0;
  for (int i = 0; i < kOpKinds; ++i) sum += of->calls[i];
  return sum;
}

/* Returns the text of a small file, or an empty one. */
static const char* text_of(const char* path, char* text, size_t room) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = file < 0 ? 0 : read(file, text, room - 1);
  if (file >= 0) close(file);
  text[got > 0 ? got : 0] = 0;
  return text;
}

void note_start(const char* self) {
  static char text[4 * kPath];
  const char* word = text_of("/proc/self/cmdline", text, sizeof text);
  for (int i = 0; i < kMostWords && *word != 0; ++i, word += strlen(word) + 1) {
    start_words[i] = word;
    if (strcmp(word, self) != 0) continue;
    start_count = i + 1;
    return;
  }
  start_words[0] = self;
}

/* Returns an environment whose LD_PRELOAD has the library first, and then the libraries of this process's
 * LD_PRELOAD. */
static char** environment_with(const char* preload) {
  static char* variables[kMostVariables];
  static char line[2 * kPath];
  const char* const before = getenv("LD_PRELOAD");
  size_t used = 0;
  snprintf(line, sizeof line, "LD_PRELOAD=%s%s%s", preload, before == NULL ? "" : ":", before == NULL ? "" : before);
  for (char** at = environ; *at != NULL && used + 2 < kMostVariables; ++at) {
    if (strncmp(*at, "LD_PRELOAD=", 11) != 0) variables[used++] = *at;
  }
  variables[used++] = line;
  variables[used] = NULL;
  return variables;
}

/* Prepares the child for exec: a new process group, no streams, a limit of processes beyond the machine's `tasks`, and
 * the highest chance to be killed if memory is short. */
static _Noreturn void become_episode(const char* const* words, char* const* environment, unsigned long tasks) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  /* The limit counts all tasks of the user, so other programs need room. It does not hold for root. */
  const struct rlimit processes = {tasks + (rlim_t)4 * kMostProcesses, tasks + (rlim_t)4 * kMostProcesses};
  setrlimit(RLIMIT_NPROC, &processes);
  const int nothing = open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 3; ++stream) dup2(nothing, stream);
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0 && write(score, "1000", 4) < 0) errno = 0;
  execve(start_count == 1 ? "/proc/self/exe" : words[0], (char* const*)words, environment);
  _exit(127);
}

static void add_times(struct thread_times* times, int32_t process, int32_t task) {
  char path[64];
  char text[128];
  snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", process, task);
  char* delayed = NULL;
  times->used += strtoull(text_of(path, text, sizeof text), &delayed, 10);
  times->delayed += strtoull(delayed, NULL, 10);
}

static struct thread_times times_of(const struct slot* slot) {
  struct thread_times times = {.at = now_ns()};
  const int32_t child = slot->head->child;
  if (child != 0) add_times(&times, child, child);
  if (slot->head->tasks[0] == 0) add_times(&times, slot->process, slot->process);
  for (int i = 0; i < kMostTasks; ++i) {
    if (slot->head->tasks[i] != 0) add_times(&times, slot->process, slot->head->tasks[i]);
  }
  return times;
}

/* Returns the number of tasks on the machine: the number after the slash in /proc/loadavg (proc_loadavg(5)). */
static unsigned long tasks_of_machine(void) {
  char text[128];
  const char* const slash = strchr(text_of("/proc/loadavg", text, sizeof text), '/');
  return slash == NULL ? 0 : strtoul(slash + 1, NULL, 10);
}

void start_slot(struct slot* slot, const char* preload, const char* api) {
  const char* words[kMostWords + kOwnWords] = {0};
  const char* const own_words[kOwnWords] = {"--run-episode", slot->path, api == NULL ? NULL : "--api", api};
  memcpy(words, start_words, sizeof start_words);
  memcpy(words + start_count, own_words, sizeof own_words);
  char** const environment = preload == NULL ? environ : environment_with(preload);
  memset(slot->head->tasks, 0, sizeof slot->head->tasks);
  slot->head->child = 0;
  slot->head->stage = kStageNone;
  slot->tasks = tasks_of_machine();
  /* Makes the system call directly. If the allocator is preloaded here too, fork would call the allocator's
   * handlers. */
  slot->process = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (slot->process == 0) become_episode(words, environment, slot->tasks);
  if (slot->process < 0) give_up("fork: %s", strerror(errno));
  setpgid(slot->process, slot->process);
  slot->handle = (int)syscall(SYS_pidfd_open, slot->process, 0);
  slot->operations = operations_of(slot->head);
  slot->then = times_of(slot);
}

/* Returns whether the threads used this much CPU time, or used this much time and waited for a CPU in less than a
 * quarter of it. */
static int is_hanging(struct thread_times then, struct thread_times now, uint64_t after) {
  if (now.used > then.used + after) return 1;
  return now.at > then.at + after && now.delayed - then.delayed < (now.at - then.at) / 4;
}

static uint64_t resident_bytes(pid_t process) {
  char path[64];
  char text[128];
  snprintf(path, sizeof path, "/proc/%d/statm", process);
  const char* const pages = strchr(text_of(path, text, sizeof text), ' ');
  return pages == NULL ? 0 : strtoull(pages, NULL, 10) * page_bytes();
}

static int is_in_group(const char* process, pid_t group) {
  char path[64];
  char text[512];
  int of = 0;
  snprintf(path, sizeof path, "/proc/%.20s/stat", process);
  const char* const end = strrchr(text_of(path, text, sizeof text), ')');
  return end != NULL && sscanf(end, ") %*c %*d %d", &of) == 1 && of == group;
}

/* Returns whether the episode started processes without end. Reads all of /proc only if the machine has many more tasks
 * than at the last such reading, or at the episode's start. An episode itself starts one process. */
static int forks_without_end(struct slot* slot) {
  const unsigned long tasks = tasks_of_machine();
  if (tasks < slot->tasks + kMostProcesses) return 0;
  slot->tasks = tasks;
  DIR* const all = opendir("/proc");
  if (all == NULL) return 0;
  int count = 0;
  for (const struct dirent* each = readdir(all); each != NULL && count <= kMostProcesses; each = readdir(all)) {
    count += each->d_name[0] >= '0' && each->d_name[0] <= '9' && is_in_group(each->d_name, slot->process);
  }
  closedir(all);
  return count > kMostProcesses;
}

/* Ends the processes that the episode started. These processes are in the episode's group, or are now children of this
 * process. */
static void end_group(struct slot* slot) {
  kill(-slot->process, SIGKILL);
  for (int i = 0; i < kRounds && waitpid(-slot->process, NULL, WNOHANG) > 0; ++i) ++slot->strays;
  if (slot->handle >= 0) close(slot->handle);
  slot->process = 0;
}

enum ending look_at(struct slot* slot, int* status) {
  enum ending ending = kRuns;
  const pid_t ended = waitpid(slot->process, status, WNOHANG);
  if (ended != 0) {
    end_group(slot);
    return kEnded;
  }
  const struct thread_times now = times_of(slot);
  const int32_t child = slot->head->child;
  if (operations_of(slot->head) != slot->operations || child != slot->child) {
    slot->operations = operations_of(slot->head);
    slot->child = child;
    slot->then = now;
  }
  slot->resident = resident_bytes(slot->process);
  if (is_hanging(slot->then, now, kHungAfter)) ending = kHung;
  if (now.at > slot->head->deadline + kLateAfter) ending = kLate;
  slot->is_stuck = is_hanging(slot->then, now, kLongCall);
  const uint64_t most = slot->head->most_bytes / (slot->head->kind == kEpisodeHuge ? 1 : 2);
  if (slot->resident > most) ending = kTookMemory;
  if (forks_without_end(slot)) ending = kForked;
  if (ending != kRuns) end_slot(slot);
  return ending;
}

void end_slot(struct slot* slot) {
  if (slot->process == 0) return;
  kill(-slot->process, SIGKILL);
  kill(slot->process, SIGKILL);
  while (waitpid(slot->process, NULL, 0) < 0 && errno == EINTR) {
  }
  end_group(slot);
}

unsigned end_strays(void) {
  char path[64];
  char text[4096];
  unsigned ended = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  for (int round = 0; round < kRounds; ++round) {
    const char* at = text_of(path, text, sizeof text);
    char* next = NULL;
    for (long process = strtol(at, &next, 10); process > 0; process = strtol(at, &next, 10)) {
      kill((pid_t)process, SIGKILL);
      at = next;
    }
    if (next == text) break;
    while (waitpid(-1, NULL, WNOHANG) > 0) ++ended;
    usleep(1000);
  }
  return ended;
}
