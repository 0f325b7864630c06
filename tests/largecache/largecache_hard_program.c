/* The program that largecache_hard_test.py runs with the library preloaded. The first argument names a case: a way to
 * mistreat a dirty block. The program mistreats the block, frees it, allocates a block of the same size and reads every
 * byte. Exit status: 0 if all is well, 77 if the case is impossible here. Any other status is a failure, which a line
 * explains. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "largecache.h"

enum { kSize = 1 << 20, kImpossible = 77 };

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static struct largecache_statistics counters(void) {
  void (*ask)(struct largecache_statistics*) = NULL;
  struct largecache_statistics now = {0};
  *(void**)&ask = dlsym(RTLD_DEFAULT, "largecache_statistics");
  if (ask == NULL) {
    fprintf(stderr, "largecache is not preloaded\n");
    _exit(2);
  }
  ask(&now);
  return now;
}

static int zero(const char* block, size_t size) {
  return block != NULL && block[0] == 0 && memcmp(block, block + 1, size - 1) == 0;
}

static void rounds(int count, char mine) {
  for (int round = 0; round < count; ++round) {
    const size_t size = kSize + (size_t)(round % 3) * page_bytes();
    char* block = calloc(1, size);
    if (!zero(block, size)) {
      fprintf(stderr, "a byte is not zero in round %d\n", round);
      _exit(1);
    }
    for (size_t at = (size_t)(round % 5) * page_bytes(); at < size; at += (size_t)(round % 7 + 1) * page_bytes())
      block[at] = mine;
    free(block);
  }
}

static int forbid_scan(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, _IOWR('f', 16, char[96]), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void* work(void* argument) {
  rounds(300, (char)(long)argument);
  return NULL;
}

static void fork_among_threads(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, &work, (void*)(i + 1));
  for (int child = 0; child < 20; ++child) {
    int status = -1;
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(25);
      rounds(20, 0x77);
      _exit(0);
    }
    waitpid(pid, &status, 0);
    if (status != 0) _exit(3);
  }
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}

static void clone_past_the_handlers(void) {
  for (int child = 0; child < 5; ++child) {
    int status = -1;
    const pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
      rounds(20, 0x77);
      _exit(0);
    }
    waitpid(pid, &status, 0);
    if (status != 0) _exit(3);
    rounds(5, 1);
  }
}

static void* survive(void* unused) {
  usleep(20000);
  rounds(20, 1);
  exit(0);
  return unused;
}

static void expect_altered(char* block) {
  const unsigned long long before = counters().altered;
  free(block);
  rounds(3, 1);
  if (counters().altered != before + 1) {
    fprintf(stderr, "the block was used again\n");
    _exit(4);
  }
}

/* The cases. Each function mistreats the dirty block and frees it, and returns an exit status. */

static int ordinary(char* block) {
  free(block);
  return 0;
}

static int forbidden_ioctl(char* block) {
  free(block);
  return forbid_scan() ? 0 : kImpossible;
}

static int closed_descriptors(char* block) {
  free(block);
  close_range(3, ~0U, 0);
  for (int number = 3; number < 300; ++number) dup2(0, number);
  return 0;
}

static int no_descriptors(char* block) {
  const struct rlimit none = {3, 3};
  free(block);
  close_range(3, ~0U, 0);
  setrlimit(RLIMIT_NOFILE, &none);
  return 0;
}

static int locked_memory(char* block) {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return kImpossible;
  free(block);
  return 0;
}

static int offered(char* block) {
  madvise(block, kSize, MADV_FREE);
  free(block);
  return 0;
}

static int read_only(char* block) {
  mprotect(block + 100 * page_bytes(), 10 * page_bytes(), PROT_READ);
  expect_altered(block);
  return 0;
}

static int shared_in_part(char* block) {
  char* there = mmap(block + 100 * page_bytes(), 10 * page_bytes(), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (there == MAP_FAILED) return kImpossible;
  expect_altered(block);
  return 0;
}

static int unmapped_in_part(char* block) {
  munmap(block + 100 * page_bytes(), 10 * page_bytes());
  expect_altered(block);
  return 0;
}

static int forks_among_threads(char* block) {
  free(block);
  fork_among_threads();
  return 0;
}

static int clones(char* block) {
  free(block);
  clone_past_the_handlers();
  return 0;
}

static int first_thread_ends(char* block) {
  pthread_t thread;
  free(block);
  pthread_create(&thread, NULL, &survive, NULL);
  pthread_exit(NULL);
}

static int address_space(char* block) {
  const struct rlimit limit = {512UL << 20, 512UL << 20};
  free(block);
  setrlimit(RLIMIT_AS, &limit);
  errno = 0;
  if (calloc(1, 1UL << 30) != NULL || errno != ENOMEM) return 5;
  if (calloc((size_t)-1, 2) != NULL || errno != ENOMEM) return 6;
  return 0;
}

#define CASE(name) \
  { #name, name }
static const struct {
  const char* name;
  int (*mistreat)(char* block);
} kCases[] = {CASE(ordinary),          CASE(forbidden_ioctl), CASE(closed_descriptors),  CASE(no_descriptors),
              CASE(locked_memory),     CASE(offered),         CASE(read_only),           CASE(shared_in_part),
              CASE(unmapped_in_part),  CASE(clones),          CASE(forks_among_threads), CASE(address_space),
              CASE(first_thread_ends)};

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  rounds(5, 1);
  char* block = calloc(1, kSize);
  memset(block, 0xab, kSize);
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) {
    if (strcmp(what, kCases[i].name) != 0) continue;
    const int status = kCases[i].mistreat(block);
    if (status == 0) rounds(20, 1);
    return status;
  }
  fprintf(stderr, "no such case: %s\n", what);
  return 2;
}
