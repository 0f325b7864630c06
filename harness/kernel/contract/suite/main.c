// zerotax-contract tests whether this kernel, sandbox or emulator keeps the promises that zeroing rests on. The suite
// is one static program that needs no other file. Each promise is tested in a child process, so that a crash or a hang
// is a result.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

static const struct family kFamilies[] = {{"mapping", kMapPromises},
                                          {"break", kBrkPromises},
                                          {"mremap", kMremapPromises},
                                          {"MADV_DONTNEED", kDontNeedPromises},
                                          {"MADV_FREE", kFreePromises},
                                          {"files in memory", kFilePromises},
                                          {"populating", kPopulatePromises},
                                          {"huge pages", kHugePromises},
                                          {"moved and merged pages", kMovePromises},
                                          {"fork", kForkPromises},
                                          {"pagemap", kPagemapPromises},
                                          {"userfaultfd", kUserfaultPromises},
                                          {"limits", kLimitPromises},
                                          {"races", kRacePromises}};
enum { kFamilyCount = sizeof kFamilies / sizeof kFamilies[0], kMostOnly = 64, kMostLimits = 4 };

struct options {
  bool list, json;
  double limit;  // time limit of a step, in seconds
  const char* only[kMostOnly];
  unsigned only_count;
};

// Returns the name of a signal that a faulty step causes. Returns NULL for all other signals, because other processes
// send them.
static const char* signal_text(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    case SIGABRT:
      return "SIGABRT";
    case SIGFPE:
      return "SIGFPE";
    default:
      return NULL;
  }
}

static void judge_end(int status) {
  if (report->verdict != kNotDone) return;
  if (WIFSIGNALED(status)) {
    const char* name = signal_text(WTERMSIG(status));
    report->verdict = name != NULL ? kBroken : kNotTestable;
    snprintf(report->detail, sizeof report->detail,
             name != NULL ? "killed by %s in: %s" : "killed from outside (%s) in: %s",
             name != NULL ? name : "out of memory?", report->last_step);
    return;
  }
  report->verdict = kNotTestable;
  snprintf(report->detail, sizeof report->detail, "the test ended without a verdict, with status %d",
           WEXITSTATUS(status));
}

// Retries, because the kernel needs time to empty the cgroup after its processes have ended.
static void remove_cgroup(void) {
  for (int tries = 0; report->cgroup[0] != 0 && rmdir(report->cgroup) != 0 && errno == EBUSY && tries < 200; ++tries) {
    usleep(5000);
  }
}

// Runs a test in a child process. The child leads a process group, so that its own children can be killed with it.
static void run(const struct promise* promise, double limit) {
  memset(report, 0, sizeof *report);
  report->expected = -1;
  fflush(stdout);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    report->verdict = kNotTestable;
    snprintf(report->detail, sizeof report->detail, "fork failed: %s", error_name(errno));
    return;
  }
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    setpgid(0, 0);
    promise->test();
    kept("%s", "");
  }
  // A test that still takes a step now and then is slow, not hung. Tests are slow in an emulator on a busy machine.
  const double last = now() + kMostLimits * limit;
  double end = now() + limit;
  uint32_t steps = 0;
  int status = 0;
  pid_t ended = 0;
  for (unsigned wait_us = 50; (ended = waitpid(pid, &status, WNOHANG)) == 0;) {
    if (now() > (end < last ? end : last)) break;
    const uint32_t taken = __atomic_load_n(&report->steps_taken, __ATOMIC_RELAXED);
    if (taken != steps) end = now() + limit;
    steps = taken;
    usleep(wait_us);
    if (wait_us < 5000) wait_us *= 2;
  }
  // Kills the child's own children, too.
  kill(-pid, SIGKILL);
  if (ended != 0) {
    judge_end(status);
  } else {
    waitpid(pid, &status, 0);
    if (report->verdict == kNotDone) {
      const bool hangs = end < last;
      report->verdict = hangs ? kBroken : kNotTestable;
      snprintf(report->detail, sizeof report->detail,
               hangs ? "no end within %g s; it hangs in: %s" : "too slow: no end within %g s; the last step was: %s",
               hangs ? limit : kMostLimits * limit, report->last_step);
    }
  }
  remove_cgroup();
}

static bool wanted(const struct options* options, const char* id) {
  for (unsigned i = 0; i < options->only_count; ++i) {
    if (strcmp(options->only[i], id) == 0) return true;
  }
  return options->only_count == 0;
}

static bool known(const char* id) {
  for (unsigned i = 0; i < kFamilyCount; ++i) {
    for (const struct promise* each = kFamilies[i].promises; each->id != NULL; ++each) {
      if (strcmp(each->id, id) == 0) return true;
    }
  }
  return false;
}

static unsigned count_wanted(const struct options* options) {
  unsigned count = 0;
  for (unsigned i = 0; i < kFamilyCount; ++i) {
    for (const struct promise* each = kFamilies[i].promises; each->id != NULL; ++each)
      count += wanted(options, each->id);
  }
  return count;
}

static int usage(const char* problem, const char* word) {
  fprintf(stderr, "zerotax-contract: %s '%s'\n", problem, word);
  return 2;
}

static const char kHelp[] =
    "zerotax-contract: tests which promises about zeroed memory this kernel keeps\n\n"
    "  --list         lists the promises, and tests none\n"
    "  --only ID      tests only this promise (repeatable)\n"
    "  --seconds S    sets the time limit of a race (default: 10); a race also ends after 10,000 tries\n"
    "  --limit S      sets the time limit of a step (default: 60); a step that takes longer counts as a hang\n"
    "  --json         prints a JSON object for the system, then one for each promise, a line each\n"
    "Exit status: 0 no promise is broken, 1 a promise is broken, 2 unusable arguments, 3 no promise could be tested.\n";

// Reads the options. Returns -1 to continue, or else the exit status.
static int read_options(int count, char** words, struct options* options) {
  for (int i = 1; i < count; ++i) {
    const char* word = words[i];
    if (strcmp(word, "--list") == 0) {
      options->list = true;
      continue;
    }
    if (strcmp(word, "--json") == 0) {
      options->json = true;
      continue;
    }
    if (strcmp(word, "--help") == 0) {
      fputs(kHelp, stdout);
      return 0;
    }
    const bool only = strcmp(word, "--only") == 0;
    const bool seconds = strcmp(word, "--seconds") == 0;
    const bool limit = strcmp(word, "--limit") == 0;
    bool lie = false;
#ifdef ZEROTAX_CONTRACT_LIES
    lie = strcmp(word, "--lie") == 0;
    if (strcmp(word, "--lies") == 0) {
      list_lies();
      return 0;
    }
#endif
    if (!only && !seconds && !limit && !lie) return usage("unknown argument; try --help:", word);
    if (++i == count) return usage("nothing follows", word);
    char* rest = words[i];
    if (only) {
      if (!known(words[i])) return usage("unknown promise; --list names them:", words[i]);
      if (options->only_count == kMostOnly) return usage("too many --only:", words[i]);
      options->only[options->only_count++] = words[i];
    } else if (seconds || limit) {
      const double value = strtod(words[i], &rest);
      if (rest == words[i] || *rest != 0 || !(value > 0) || value > 86400) {
        return usage(seconds ? "--seconds takes a number above 0 and at most 86400, not"
                             : "--limit takes a number above 0 and at most 86400, not",
                     words[i]);
      }
      *(seconds ? &race_seconds : &options->limit) = value;
    }
#ifdef ZEROTAX_CONTRACT_LIES
    if (lie && !choose_lie(words[i])) return usage("unknown lie", words[i]);
#endif
  }
  return -1;
}

int main(int count, char** words) {
  struct options options = {.limit = 60};
  const int status = read_options(count, words, &options);
  if (status >= 0) return status;
  page = (size_t)sysconf(_SC_PAGESIZE);
  report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (report == MAP_FAILED) {
    fprintf(stderr, "zerotax-contract: no shared memory: %s\n", error_name(errno));
    return 3;
  }
  signal(SIGPIPE, SIG_IGN);
#ifdef ZEROTAX_CONTRACT_LIES
  lie_at_start();
#endif
  if (options.json && !options.list) print_head(count_wanted(&options));
  unsigned counts[5] = {0};
  for (unsigned i = 0; i < kFamilyCount; ++i) {
    for (const struct promise* each = kFamilies[i].promises; each->id != NULL; ++each) {
      if (!wanted(&options, each->id)) continue;
      if (!options.list) {
        const double begin = now();
        run(each, options.limit + race_seconds);
        report->seconds = now() - begin;
        ++counts[report->verdict];
      }
      (options.json ? print_json : print_line)(kFamilies[i].name, each, options.list ? NULL : report);
      fflush(stdout);
    }
  }
  if (!options.list && !options.json) print_summary(counts);
  if (counts[kBroken] > 0) return 1;
  return counts[kNotTestable] > 0 && counts[kKept] + counts[kUnsupported] == 0 ? 3 : 0;
}
