/* Starts COUNT processes in one WAY, one at a time, and waits for each. The process holds 8 MiB. */
#define _GNU_SOURCE
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static char stack[1 << 16] __attribute__((aligned(16)));
static char* const kTrue[] = {"true", NULL};

static int run_true(void* unused) {
  (void)unused;
  execv("/bin/true", kTrue);
  _exit(1);
}

static int end(void* unused) {
  (void)unused;
  _exit(0);
}

__attribute__((noinline)) static pid_t fork_here(const char* way) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (strcmp(way, "fork-allocate") == 0) {
    void* volatile block = malloc(100);
    free(block);
  }
  if (strcmp(way, "fork-session") == 0) setsid();
  if (strcmp(way, "fork-close-range") == 0) close_range(3, ~0U, 0);
  if (strcmp(way, "fork-closefrom") == 0) closefrom(3);
  const gid_t other = 65534;
  if (strcmp(way, "fork-groups") == 0 && setgroups(1, &other) != 0) _exit(2);
  if (strcmp(way, "fork-user") == 0 && setgid(65534) != 0) _exit(2);
  if (strcmp(way, "fork") != 0) execv("/bin/true", kTrue);
  _exit(0);
}

__attribute__((noinline)) static pid_t vfork_here(const char* file) {
  const pid_t child = vfork();
  if (child != 0) return child;
  execv(file, kTrue);
  _exit(3);
}

/* A child of vfork that itself calls vfork. */
__attribute__((noinline)) static pid_t vfork_twice(void) {
  const pid_t child = vfork();
  if (child != 0) return child;
  const pid_t grandchild = vfork();
  if (grandchild == 0) execv("/bin/true", kTrue);
  _exit(grandchild < 0);
}

static pid_t start(const char* way) {
  pid_t child = -1;
  if (strncmp(way, "fork", 4) == 0) return fork_here(way);
  if (strcmp(way, "vfork") == 0) return vfork_here("/bin/true");
  if (strcmp(way, "vfork-missing") == 0) return vfork_here("/bin/no-such-program");
  if (strcmp(way, "vfork-twice") == 0) return vfork_twice();
  if (strcmp(way, "spawn") == 0) return posix_spawn(&child, "/bin/true", NULL, NULL, kTrue, environ) == 0 ? child : -1;
  if (strcmp(way, "spawn-missing") == 0) return posix_spawn(&child, "/bin/none", NULL, NULL, kTrue, environ) == 0 ? child : 0;
  if (strcmp(way, "clone-vfork") == 0)
    return clone(run_true, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
  if (strcmp(way, "clone-vm") == 0) return clone(end, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
  if (strcmp(way, "clone") == 0) return clone(run_true, stack + sizeof stack, SIGCHLD, NULL);
  if (strcmp(way, "syscall") == 0) {
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) syscall(SYS_exit_group, 0);
    return child;
  }
  if (strcmp(way, "system") == 0) return system("exit 0") == 0 ? 0 : -1;
  if (strcmp(way, "popen") == 0) {
    FILE* const pipe = popen("exit 0", "r");
    return pipe != NULL && pclose(pipe) == 0 ? 0 : -1;
  }
  return -1;
}

int main(int argc, char** argv) {
  const int count = argc > 2 ? atoi(argv[2]) : 0;
  char* volatile held = malloc(8 << 20);
  memset(held, 1, 8 << 20);
  for (int i = 0; i < count; ++i) {
    const pid_t child = start(argv[1]);
    int status = 0;
    if (child < 0 || (child > 0 && waitpid(child, &status, 0) != child)) return 9;
  }
  free(held);
  return 0;
}
