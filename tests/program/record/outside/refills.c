/* Populates memory of known size. Usage: refills WAY ROUNDS [WORD].
 * Prints the number of minor faults that the kernel has counted for the program before and after the work. With WORD,
 * the program first prints "ready" and waits for a line, and waits for a second line at the end.
 * `map`: populates and keeps 16 MiB; then maps, fills and unmaps 1 MiB, ROUNDS times.
 * `malloc`: the same by malloc.
 * `forks`: ROUNDS children, each of which fills 1 MiB and ends.
 * `threads`: the same in ROUNDS threads, one after the other.
 * `zeros`: memset of zeros over the same 1 MiB, ROUNDS times.
 * `read`: 1 MiB of /dev/zero is read into a new mapping.
 * `unmap`, `free`, `advise`, `shrink`, `cut`: 1 MiB is populated and returned by munmap, free, madvise, brk or mremap,
 * ROUNDS times, some 100 times a second.
 * `storm`: 1 MiB is mapped and unmapped, ROUNDS times.
 * `exec`: executes this program again with "map".
 * `sleep`: does nothing for ROUNDS ms.
 * `grow`: populates and keeps ROUNDS MiB.
 * `chain`: populates and keeps 4 MiB, then executes this program again, ROUNDS times.
 * `last`: "map" in a thread that runs after the first thread has ended.
 * `daemon`: "map" in a process that runs after this process has ended.
 * `vfork`: "map" in a child of vfork, which shares this process's memory.
 * `collapse`: 8 MiB of small pages, without every 512th page, become huge pages.
 * `large`: 8 MiB that are advised to be in huge pages.
 * `hugetlb`: 8 MiB of hugetlbfs.
 * `look`: ROUNDS MiB that are read and never written, slowly.
 * `shared`, `memfd`, `shm`, `sysv`: ROUNDS MiB of shared memory.
 * `given`: a child of fork returns ROUNDS MiB of its parent's memory, waits, and fills the same range again.
 * `populate`: ROUNDS MiB that a system call populates in a child, which ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1L << 20)
#define KEPT (16 * MIB)

static void* volatile escaped;

static long minor_faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

static char* map(long bytes) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(3);
  escaped = memory;
  return memory;
}

__attribute__((noinline)) static void keep_here(void) { memset(map(KEPT), 7, KEPT); }

__attribute__((noinline)) static void refill_here(void) {
  char* memory = map(MIB);
  memset(memory, 7, MIB);
  munmap(memory, MIB);
}

__attribute__((noinline)) static void malloc_here(void) {
  char* memory = malloc(MIB);
  escaped = memory;
  memset(memory, 7, MIB);
  free(memory);
}

__attribute__((noinline)) static void clear_here(char* memory) {
  escaped = memory;
  memset(memory, 0, MIB);
}

__attribute__((noinline)) static void* refill_in_thread(void* nothing) {
  refill_here();
  return nothing;
}

__attribute__((noinline)) static void fork_here(void) {
  const pid_t child = fork();
  if (child == 0) {
    refill_here();
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

__attribute__((noinline)) static void thread_here(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, refill_in_thread, NULL) != 0) exit(3);
  pthread_join(thread, NULL);
}

__attribute__((noinline)) static void read_here(void) {
  const int zeros = open("/dev/zero", O_RDONLY);
  char* memory = map(MIB);
  if (read(zeros, memory, MIB) != MIB) exit(3);
  munmap(memory, MIB);
  close(zeros);
}

__attribute__((noinline)) static void advise_here(char* memory) {
  memset(memory, 7, MIB);
  madvise(memory, MIB, MADV_WILLNEED);
  madvise(memory, MIB, MADV_DONTNEED);
}

__attribute__((noinline)) static void shrink_here(void) {
  char* memory = sbrk(MIB);
  escaped = memory;
  memset(memory, 7, MIB);
  sbrk(-MIB);
}

__attribute__((noinline)) static void cut_here(void) {
  char* memory = map(2 * MIB);
  memset(memory, 7, 2 * MIB);
  escaped = mremap(memory, 2 * MIB, MIB, 0);
  mremap(escaped, MIB, 2 * MIB, MREMAP_MAYMOVE);
}

__attribute__((noinline)) static void huge_here(const char* way) {
  const long huge = 2 * MIB;
  char* memory = map(10 * MIB);
  memory += (huge - (long)memory % huge) % huge;
  const int advised = strcmp(way, "large") == 0;
  if (advised) madvise(memory, 8 * MIB, MADV_HUGEPAGE);
  for (long at = 0; at < 8 * MIB; at += 4096) {
    if (advised || at % huge != 0) memory[at] = 7;
  }
  if (!advised && madvise(memory, 8 * MIB, 25 /* MADV_COLLAPSE */) != 0) exit(77);
}

__attribute__((noinline)) static void hugetlb_here(void) {
  char* memory = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (memory == MAP_FAILED) exit(77);
  memset(memory, 7, 8 * MIB);
  usleep(300000);
}

/* Reads page by page, in 100 pieces with a pause after each piece, so that no sample is lost. */
__attribute__((noinline)) static void look_here(long bytes) {
  const volatile char* memory = map(bytes);
  for (long at = 0; at < bytes; at += 4096) {
    (void)memory[at];
    if (at / 4096 % (bytes / 4096 / 100) == 0) usleep(2000);
  }
}

__attribute__((noinline)) static void share_here(const char* way, long bytes) {
  int file = -1;
  char* memory = NULL;
  if (strcmp(way, "memfd") == 0) file = memfd_create("shared", 0);
  if (strcmp(way, "shm") == 0) {
    file = shm_open("/zerotax-refills", O_CREAT | O_RDWR, 0600);
    shm_unlink("/zerotax-refills");
  }
  if (file >= 0 && ftruncate(file, bytes) != 0) exit(3);
  if (strcmp(way, "sysv") == 0) {
    const int number = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
    memory = shmat(number, NULL, 0);
    shmctl(number, IPC_RMID, NULL);
  } else {
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
  }
  if (memory == MAP_FAILED) exit(3);
  memset(memory, 7, bytes);
}

static char* given;

static void give_here(long bytes) {
  const pid_t child = fork();
  if (child == 0) {
    madvise(given, bytes, MADV_DONTNEED);
    usleep(100000);
    memset(given, 7, bytes);
    usleep(100000);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static void populate_here(long bytes) {
  const pid_t child = fork();
  if (child == 0) {
    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

__attribute__((noinline)) static void storm_here(void) { munmap(map(MIB), MIB); }

/* Returns 0 if the named method returns no memory. */
static int give_back(const char* way, char* kept) {
  if (strcmp(way, "unmap") == 0) return refill_here(), 1;
  if (strcmp(way, "free") == 0) return malloc_here(), 1;
  if (strcmp(way, "advise") == 0) return advise_here(kept), 1;
  if (strcmp(way, "shrink") == 0) return shrink_here(), 1;
  if (strcmp(way, "cut") == 0) return cut_here(), 1;
  return 0;
}

__attribute__((noinline)) static void grow_here(long mib) { memset(map(mib * MIB), 7, mib * MIB); }

static long rounds_of_last;
static int waits;

static void wait_for_line(void) {
  if (!waits) return;
  puts("ready");
  fflush(stdout);
  getchar();
}

static void* work_last(void* nothing) {
  usleep(20000);
  wait_for_line();
  keep_here();
  for (long i = 0; i < rounds_of_last; ++i) refill_here();
  exit(5);
  return nothing;
}

/* Ends the first thread, and continues in another thread. */
static void leave_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work_last, NULL) == 0) pthread_exit(NULL);
  exit(3);
}

/* Ends this process, and continues in another process. */
static void leave_process(void) {
  if (fork() != 0) exit(5);
  waits = 0;
  for (int fd = 0; fd < 3; ++fd) close(fd);
  sleep(5);
  work_last(NULL);
}

static void work_in_same_memory(long rounds) {
  const pid_t child = vfork();
  if (child == 0) {
    keep_here();
    for (long i = 0; i < rounds; ++i) refill_here();
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static void work(const char* way, long rounds) {
  char* kept = NULL;
  if (strcmp(way, "vfork") == 0) return work_in_same_memory(rounds);
  if (strcmp(way, "grow") == 0) return grow_here(rounds);
  if (strcmp(way, "collapse") == 0 || strcmp(way, "large") == 0) return huge_here(way);
  if (strcmp(way, "hugetlb") == 0) return hugetlb_here();
  if (strcmp(way, "look") == 0) return look_here(rounds * MIB);
  if (strcmp(way, "given") == 0) return give_here(rounds * MIB);
  if (strcmp(way, "populate") == 0) return populate_here(rounds * MIB);
  if (strcmp(way, "shared") == 0 || strcmp(way, "memfd") == 0) return share_here(way, rounds * MIB);
  if (strcmp(way, "shm") == 0 || strcmp(way, "sysv") == 0) return share_here(way, rounds * MIB);
  if (strcmp(way, "zeros") == 0 || strcmp(way, "advise") == 0) kept = map(MIB);
  if (strcmp(way, "map") == 0 || strcmp(way, "malloc") == 0) keep_here();
  for (long i = 0; i < rounds; ++i) {
    if (strcmp(way, "map") == 0) refill_here();
    if (strcmp(way, "malloc") == 0) malloc_here();
    if (strcmp(way, "forks") == 0) fork_here();
    if (strcmp(way, "threads") == 0) thread_here();
    if (strcmp(way, "zeros") == 0) clear_here(kept);
    if (strcmp(way, "read") == 0) read_here();
    if (strcmp(way, "sleep") == 0) usleep(1000);
    if (strcmp(way, "storm") == 0) storm_here();
    if (give_back(way, kept)) usleep(10000);
  }
}

int main(int count, char** words) {
  if (count < 3) return 2;
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
  waits = count > 3;
  rounds_of_last = atol(words[2]);
  if (strcmp(words[1], "last") == 0) leave_thread();
  if (strcmp(words[1], "given") == 0) {
    given = map(atol(words[2]) * MIB);
    memset(given, 7, atol(words[2]) * MIB);
  }
  wait_for_line();
  if (strcmp(words[1], "daemon") == 0) leave_process();
  if (strcmp(words[1], "exec") == 0) execl("/proc/self/exe", words[0], "map", words[2], (char*)NULL);
  if (strcmp(words[1], "chain") == 0 && atol(words[2]) > 0) {
    char next[32];
    snprintf(next, sizeof next, "%ld", atol(words[2]) - 1);
    grow_here(4);
    execl("/proc/self/exe", words[0], "chain", next, (char*)NULL);
  }
  const long before = minor_faults();
  work(words[1], atol(words[2]));
  const long after = minor_faults();
  printf("%ld %ld\n", before, after);
  fflush(stdout);
  if (waits) getchar();
  return 5;
}
