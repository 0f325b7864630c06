/* The loop that benchmark-policies measures, in one process per allocator: calloc, write one byte to some of the
 * pages, free, repeated in one thread or several. Prints one line of metrics:
 *
 *   nanoseconds per operation (wall time of a thread), minor faults per operation, operations measured,
 *   peak resident KiB, resident KiB after `idle` milliseconds of rest
 *
 * Usage: loop SIZE[,SIZE...] FRACTION PATTERN THREADS BUDGET_MS IDLE_MS
 * Sizes in bytes take turns. PATTERN: contiguous (the first pages), scattered (the same pages each time, far apart),
 * random (other pages each time). With "limit" as the seventh word, no allocator is used. Instead, memset clears the
 * pages that the program writes to, in one block that is never freed. No zeroing can cost less.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { kMostSizes = 8, kMostThreads = 64 };

static size_t page_bytes;
static size_t sizes[kMostSizes];
static int size_count;
static double fraction;
static enum { CONTIGUOUS, SCATTERED, RANDOM } pattern;
static int threads;
static int64_t budget_ns;
static int limit;
static pthread_barrier_t start;

struct outcome {
  double ns;
  double faults;
  long operations;
};
static struct outcome outcomes[kMostThreads];

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

static uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static size_t page_to_touch(size_t i, size_t touched, size_t pages, uint64_t* random) {
  switch (pattern) {
    case CONTIGUOUS:
      return i;
    case SCATTERED:
      return i * pages / touched;
    default:
      return next_random(random) % pages;
  }
}

static void operation(size_t size, char* kept, uint64_t* random) {
  const size_t pages = size / page_bytes;
  const size_t touched = (size_t)(fraction * (double)pages + 0.999999);
  char* block = kept;
  if (block == NULL) {
    block = calloc(size, 1);
    if (block == NULL) exit(3);
  }
  __asm__ volatile("" : : "g"(block) : "memory");
  const int in_one = kept != NULL && pattern == CONTIGUOUS;
  if (in_one) memset(block, 0, touched * page_bytes);
  for (size_t i = 0; i < touched; ++i) {
    const size_t page = page_to_touch(i, touched, pages, random);
    if (kept != NULL && !in_one) memset(block + page * page_bytes, 0, page_bytes);
    ((volatile char*)block)[page * page_bytes] = 1;
  }
  if (kept == NULL) free(block);
}

/* Repeats rounds. A round is one operation of each size. */
static void rounds(long count, char* kept, uint64_t* random) {
  for (long i = 0; i < count; ++i) {
    for (int k = 0; k < size_count; ++k) operation(sizes[k], kept, random);
  }
}

static void* work(void* argument) {
  struct outcome* const outcome = argument;
  uint64_t random = 88172645463325252u + (uint64_t)(outcome - outcomes);
  char* kept = NULL;
  if (limit) {
    kept = mmap(NULL, sizes[0], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept == MAP_FAILED) exit(3);
  }
  pthread_barrier_wait(&start);
  /* The first rounds take most faults. Half of the budget then lets allocators learn the pattern before the
     measurement. */
  rounds(2, kept, &random);
  const int64_t begin = now_ns();
  long warm = 0;
  do {
    rounds(1, kept, &random);
    ++warm;
  } while (now_ns() - begin < budget_ns / 2);
  const double round_ns = (double)(now_ns() - begin) / (double)warm;
  long count = (long)((double)budget_ns / round_ns);
  if (count < 2) count = 2;
  const long faults_before = faults();
  const int64_t from = now_ns();
  rounds(count, kept, &random);
  outcome->ns = (double)(now_ns() - from) / (double)count / size_count;
  outcome->faults = (double)(faults() - faults_before) / (double)count / size_count;
  outcome->operations = count * size_count;
  return NULL;
}

static long resident_kib(void) {
  FILE* const file = fopen("/proc/self/statm", "r");
  long total = 0;
  long resident = -1;
  if (file == NULL || fscanf(file, "%ld %ld", &total, &resident) != 2) return -1;
  fclose(file);
  return resident * (long)(page_bytes / 1024);
}

int main(int argc, char** argv) {
  if (argc < 7) return 2;
  page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  for (char* at = argv[1]; size_count < kMostSizes; ++at) {
    sizes[size_count++] = strtoull(at, &at, 10);
    if (*at != ',') break;
  }
  fraction = atof(argv[2]);
  pattern = strcmp(argv[3], "contiguous") == 0 ? CONTIGUOUS : strcmp(argv[3], "scattered") == 0 ? SCATTERED : RANDOM;
  threads = atoi(argv[4]);
  budget_ns = atoll(argv[5]) * 1000000;
  const long idle_ms = atol(argv[6]);
  limit = argc > 7;
  if (threads < 1 || threads > kMostThreads) return 2;

  pthread_barrier_init(&start, NULL, (unsigned)threads);
  pthread_t ids[kMostThreads] = {0};
  for (int i = 1; i < threads; ++i) {
    if (pthread_create(&ids[i], NULL, work, &outcomes[i]) != 0) return 3;
  }
  work(&outcomes[0]);
  for (int i = 1; i < threads; ++i) pthread_join(ids[i], NULL);

  struct outcome sum = {0, 0, 0};
  for (int i = 0; i < threads; ++i) {
    sum.ns += outcomes[i].ns / threads;
    sum.faults += outcomes[i].faults / threads;
    sum.operations += outcomes[i].operations;
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  if (idle_ms > 0) usleep((useconds_t)idle_ms * 1000);
  printf("%.3f %.4f %ld %ld %ld\n", sum.ns, sum.faults, sum.operations, usage.ru_maxrss, resident_kib());
  return 0;
}
