/* Runs one program to its end, and prints on one line the resources that the program and its descendants used:
 *
 *   number of minor faults
 *   microseconds in user mode
 *   microseconds in the kernel
 *   peak resident KiB of the largest process
 *   1 if the program exited, or 0 if a signal killed it
 *   the program's exit status, or the number of that signal
 *   nanoseconds from start to end, of the client if there is one
 *   PID of the program
 *   time of the program's start in nanoseconds (CLOCK_MONOTONIC)
 *   exit status of the client, or 128 + signal; -1 without a client, -2 if the program ended before the client's start
 *
 * Usage: run-metered [OPTION...] -- PROGRAM WORD...
 *   WORD...        the program's argv
 *   -C FOLDER      working directory
 *   -i INPUT  -o OUTPUT  -e ERRORS   files for the standard streams (default: /dev/null)
 *   -v KEY=VALUE   set a variable (repeatable)
 *   -x             remove all other variables
 *   -c CLIENT      shell command that runs beside the program, without its variables, and is not counted; OUTPUT is
 *                  then the client's output
 *   -r READY       shell command that is repeated until it succeeds, before the client is started
 *   -t             end the program with SIGTERM after the client has ended
 *   -w             with -t, first wait for SIGUSR1, at most a second: zerotax sends it when the program is idle
 *
 * A separate, small process is necessary. A child starts with the peak and the page tables of the process that forked
 * it, so the peak and the page tables of zerotax would be counted. The process runs in a session of its own, without a
 * terminal, and kills processes that the program leaves behind.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMostVariables = 256, kPollMs = 50, kLeftOverMs = 500, kTerminateMs = 20000, kIdleMs = 1000 };
enum { kNoClient = -1, kNeverReady = -2 };

static const char* input = "/dev/null";
static const char* output = "/dev/null";
static const char* errors = "/dev/null";
static const char* client;
static const char* ready;
static char* variables[kMostVariables];
static int variable_count;
static int only_these;
static int terminate;
static int waits;
static volatile sig_atomic_t is_idle;

struct child {
  pid_t pid; /* 0 if not running */
  int status;
  long long started_ns;
  long long ended_ns;
};
static struct child program;
static struct child shell;

/* Resources used by the program and its descendants, without those of the client's shell. */
static struct {
  long faults;
  long long user_us;
  long long system_us;
  long peak_kib;
} used;

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void pause_ms(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static long long microseconds(struct timeval time) { return time.tv_sec * 1000000LL + time.tv_usec; }

static void redirect(const char* path, int flags, int to) {
  const int fd = open(path, flags, 0600);
  if (fd < 0) {
    perror(path);
    _exit(127);
  }
  dup2(fd, to);
  close(fd);
}

static void redirect_all(const char* in, const char* out) {
  redirect(in, O_RDONLY, STDIN_FILENO);
  redirect(errors, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
  redirect(out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
}

static int start(struct child* child) {
  child->started_ns = now_ns();
  child->pid = fork();
  if (child->pid < 0) exit(3);
  if (child->pid != 0) return 0;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  return 1;
}

static void start_program(char** words) {
  if (!start(&program)) return;
  redirect_all(input, client == NULL ? output : "/dev/null");
  if (only_these) clearenv();
  for (int i = 0; i < variable_count; ++i) putenv(variables[i]);
  execv(words[0], words + 1);
  perror(words[0]);
  _exit(127);
}

static void start_shell(const char* command, const char* out) {
  if (!start(&shell)) return;
  redirect_all("/dev/null", out);
  if (only_these) {
    clearenv();
    setenv("PATH", "/usr/bin:/bin", 1);
    setenv("LC_ALL", "C", 1);
  }
  execl("/bin/sh", "sh", "-c", command, (char*)NULL);
  perror("/bin/sh");
  _exit(127);
}

static int shell_status(void) {
  return WIFEXITED(shell.status) ? WEXITSTATUS(shell.status) : 128 + WTERMSIG(shell.status);
}

static int ended(struct child* child, pid_t pid, int status) {
  if (pid != child->pid) return 0;
  child->ended_ns = now_ns();
  child->status = status;
  child->pid = 0;
  return 1;
}

/* Waits for any child with waitpid()'s `flags`, and counts the child's resources unless the child is the shell. Returns
   the result of waitpid(). */
static pid_t reap(int flags) {
  struct rusage usage;
  int status = 0;
  pid_t pid;
  while ((pid = wait4(-1, &status, flags, &usage)) < 0 && errno == EINTR) {
  }
  if (pid <= 0 || ended(&shell, pid, status)) return pid;
  ended(&program, pid, status);
  used.faults += usage.ru_minflt;
  used.user_us += microseconds(usage.ru_utime);
  used.system_us += microseconds(usage.ru_stime);
  if (usage.ru_maxrss > used.peak_kib) used.peak_kib = usage.ru_maxrss;
  return pid;
}

static void wait_for(const struct child* child) {
  while (child->pid != 0 && reap(0) > 0) {
  }
}

/* Returns 0 at the deadline. */
static int wait_at_most(const struct child* child, long ms) {
  const long long deadline = now_ns() + ms * 1000000LL;
  while (child->pid != 0 && now_ns() < deadline) {
    if (reap(WNOHANG) == 0) pause_ms(1);
  }
  return child->pid == 0;
}

static void note_idle(int signal) {
  (void)signal;
  is_idle = 1;
}

static void wait_until_idle(void) {
  const long long deadline = now_ns() + kIdleMs * 1000000LL;
  is_idle = 0;
  while (waits && !is_idle && program.pid != 0 && now_ns() < deadline) {
    if (reap(WNOHANG) == 0) pause_ms(1);
  }
}

/* Returns whether the program became ready before it ended. */
static int wait_until_ready(void) {
  while (program.pid != 0) {
    start_shell(ready, "/dev/null");
    wait_for(&shell);
    if (shell_status() == 0) return program.pid != 0;
    wait_at_most(&program, kPollMs);
  }
  return 0;
}

/* Kills the remaining children of this process, which the program left behind. */
static void kill_left_over(void) {
  const long long deadline = now_ns() + kLeftOverMs * 1000000LL;
  for (pid_t got; (got = reap(WNOHANG)) >= 0;) {
    if (got > 0) continue;
    pause_ms(1);
    if (now_ns() < deadline) continue;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE* file = fopen(path, "re");
    if (file == NULL) return;
    int pid = 0;
    while (fscanf(file, "%d", &pid) == 1) kill(pid, SIGKILL);
    fclose(file);
  }
}

static void parse(int argc, char** argv) {
  for (int option; (option = getopt(argc, argv, "+C:i:o:e:v:xc:r:tw")) != -1;) {
    switch (option) {
      case 'C':
        if (chdir(optarg) != 0) exit(2);
        break;
      case 'i':
        input = optarg;
        break;
      case 'o':
        output = optarg;
        break;
      case 'e':
        errors = optarg;
        break;
      case 'v':
        if (variable_count == kMostVariables) exit(2);
        variables[variable_count++] = optarg;
        break;
      case 'x':
        only_these = 1;
        break;
      case 'c':
        client = optarg;
        break;
      case 'r':
        ready = optarg;
        break;
      case 't':
        terminate = 1;
        break;
      case 'w':
        waits = 1;
        signal(SIGUSR1, note_idle);
        break;
      default:
        exit(2);
    }
  }
  if (argc - optind < 2) exit(2);
}

int main(int argc, char** argv) {
  parse(argc, argv);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  start_program(argv + optind);
  const pid_t pid = program.pid;
  int client_status = kNoClient;
  if (client != NULL && ready != NULL && !wait_until_ready()) {
    client_status = kNeverReady;
    client = NULL;
  }
  if (client != NULL) {
    start_shell(client, output);
    if (terminate) {
      wait_for(&shell);
      wait_until_idle();
      if (program.pid != 0) kill(program.pid, SIGTERM);
      if (!wait_at_most(&program, kTerminateMs)) kill(program.pid, SIGKILL);
    }
  }
  wait_for(&program);
  const struct child* timed = &program;
  if (client != NULL) {
    /* If the server has crashed, nothing else ends the client. */
    if (shell.pid != 0 && !WIFEXITED(program.status)) kill(shell.pid, SIGKILL);
    wait_for(&shell);
    client_status = shell_status();
    timed = &shell;
  }
  kill_left_over();
  printf("%ld %lld %lld %ld %d %d %lld %d %lld %d\n", used.faults, used.user_us, used.system_us, used.peak_kib,
         WIFEXITED(program.status), WIFEXITED(program.status) ? WEXITSTATUS(program.status) : WTERMSIG(program.status),
         timed->ended_ns - timed->started_ns, (int)pid, program.started_ns, client_status);
  return 0;
}
