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

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  rounds(5, 1);
  char* block = calloc(1, kSize);
  memset(block, 0xab, kSize);
  if (strcmp(what, "ordinary") == 0) {
    free(block);
  } else if (strcmp(what, "forbidden_ioctl") == 0) {
    free(block);
    if (!forbid_scan()) return kImpossible;
  } else if (strcmp(what, "closed_descriptors") == 0) {
    free(block);
    close_range(3, ~0U, 0);
    for (int number = 3; number < 300; ++number) dup2(0, number);
  } else if (strcmp(what, "no_descriptors") == 0) {
    const struct rlimit none = {3, 3};
    free(block);
    close_range(3, ~0U, 0);
    setrlimit(RLIMIT_NOFILE, &none);
  } else if (strcmp(what, "locked_memory") == 0) {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return kImpossible;
    free(block);
  } else if (strcmp(what, "offered") == 0) {
    madvise(block, kSize, MADV_FREE);
    free(block);
  } else if (strcmp(what, "read_only") == 0) {
    mprotect(block + 100 * page_bytes(), 10 * page_bytes(), PROT_READ);
    expect_altered(block);
  } else if (strcmp(what, "shared_in_part") == 0) {
    char* there = mmap(block + 100 * page_bytes(), 10 * page_bytes(), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (there == MAP_FAILED) return kImpossible;
    expect_altered(block);
  } else if (strcmp(what, "unmapped_in_part") == 0) {
    munmap(block + 100 * page_bytes(), 10 * page_bytes());
    expect_altered(block);
  } else if (strcmp(what, "forks_among_threads") == 0) {
    free(block);
    fork_among_threads();
  } else if (strcmp(what, "clones") == 0) {
    free(block);
    clone_past_the_handlers();
  } else if (strcmp(what, "first_thread_ends") == 0) {
    pthread_t thread;
    free(block);
    pthread_create(&thread, NULL, &survive, NULL);
    pthread_exit(NULL);
  } else if (strcmp(what, "address_space") == 0) {
    const struct rlimit limit = {512UL << 20, 512UL << 20};
    free(block);
    setrlimit(RLIMIT_AS, &limit);
    errno = 0;
    if (calloc(1, 1UL << 30) != NULL || errno != ENOMEM) return 5;
    if (calloc((size_t)-1, 2) != NULL || errno != ENOMEM) return 6;
  } else {
    fprintf(stderr, "no such case: %s\n", what);
    return 2;
  }
  rounds(20, 1);
  return 0;
}
