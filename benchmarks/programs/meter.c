/* Runs one program to its end and prints what it used, with all of its descendants that it waited for:
 *
 *   minor faults, microseconds in user mode, microseconds in the kernel, peak resident KiB (of the largest process),
 *   1 if it exited or 0 if a signal killed it, its exit status or that signal
 *
 * Usage: meter FOLDER INPUT OUTPUT ERRORS CLIENT VARIABLES [KEY=VALUE...] PROGRAM [WORDS...]
 * FOLDER is where it runs; INPUT, OUTPUT and ERRORS are its standard streams. CLIENT is a command for the shell that
 * runs beside it, without its variables and not counted, and whose output is then OUTPUT; or empty. VARIABLES is the
 * number of variables that follow: the program has no others.
 *
 * It is a process of its own, and small, because a child starts with the peak and the page tables of the process that
 * forked it: those of the benchmark would be counted.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kFixedWords = 7 };

static void redirect(const char* path, int flags, int to) {
  const int fd = open(path, flags, 0600);
  if (fd < 0) {
    perror(path);
    _exit(127);
  }
  dup2(fd, to);
  close(fd);
}

static void become(char** words, char** variables, const char* input, const char* output, const char* errors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  redirect(input, O_RDONLY, STDIN_FILENO);
  redirect(errors, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
  redirect(output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  execve(words[0], words, variables);
  perror(words[0]);
  _exit(127);
}

static long long microseconds(struct timeval time) { return time.tv_sec * 1000000LL + time.tv_usec; }

int main(int argc, char** argv) {
  const int variables = argc > kFixedWords ? atoi(argv[6]) : 0;
  if (variables < 0 || argc <= kFixedWords + variables || chdir(argv[1]) != 0) return 2;
  char** const program = argv + kFixedWords + variables;
  char** const environment = calloc((size_t)variables + 1, sizeof *environment);
  if (environment == NULL) return 3;
  for (int i = 0; i < variables; ++i) environment[i] = argv[kFixedWords + i];
  const char* const client = argv[5];

  const pid_t child = fork();
  if (child == 0) become(program, environment, argv[2], client[0] != 0 ? "/dev/null" : argv[3], argv[4]);
  pid_t other = 0;
  if (client[0] != 0 && (other = fork()) == 0) {
    char* words[] = {"/bin/sh", "-c", argv[5], NULL};
    char* clean[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
    become(words, clean, "/dev/null", argv[3], argv[4]);
  }
  if (child < 0 || other < 0) return 3;
  int status = 0;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) != child) return 3;
  if (other > 0) {
    /* Of a server that crashed, nobody ends the client. */
    if (!WIFEXITED(status)) kill(other, SIGKILL);
    waitpid(other, NULL, 0);
  }
  printf("%ld %lld %lld %ld %d %d\n", usage.ru_minflt, microseconds(usage.ru_utime), microseconds(usage.ru_stime),
         usage.ru_maxrss, WIFEXITED(status), WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  return 0;
}
