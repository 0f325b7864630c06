/* A recorded program that overwrites the memory of its own recording at random. Then it allocates more, prints "done"
 * and ends.
 * Usage: scribbler SEED WRITES */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMappings = 64 };

struct mapping {
  uintptr_t begin;
  uintptr_t end;
};

static struct mapping mappings[kMappings];
static int mappings_used;

static void find_mappings(void) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL && mappings_used < kMappings) {
    unsigned long begin = 0;
    unsigned long end = 0;
    const int shared = strstr(line, "/memfd:zerotax-") != NULL || strstr(line, "/zerotax-record-") != NULL;
    if (!shared || sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
    mappings[mappings_used++] = (struct mapping){begin, end};
  }
  if (maps != NULL) fclose(maps);
}

static uint64_t state;

static uint64_t any(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* Non-zero words are overwritten more often, because they are counts, lengths and addresses. */
static void scribble(struct mapping where) {
  static const uint64_t kWords[] = {
      0, 1, 2, 255, 512, 2047, 2048, 65535, ~0ULL, 1ULL << 63, 1ULL << 62, 1ULL << 32, 0x4141414141414141};
  const size_t pages = (where.end - where.begin) / 4096;
  unsigned char* residents = malloc(pages);
  if (residents == NULL || mincore((void*)where.begin, where.end - where.begin, residents) != 0) return;
  for (int tries = 0; tries < 4000; ++tries) {
    const size_t page = any() % 8 == 0 ? any() % pages : any() % (pages < 400 ? pages : 400);
    if (!(residents[page] & 1)) continue;
    uint64_t* const words = (uint64_t*)(where.begin + page * 4096);
    uint64_t* const word = &words[any() % 512];
    if (*word == 0 && any() % 16 != 0) continue;
    if (any() % 8 == 0) {
      *(uint32_t*)((char*)word + 4 * (any() % 2)) = (uint32_t)any();
    } else {
      *word = any() % 3 == 0 ? any() : kWords[any() % (sizeof kWords / sizeof *kWords)];
    }
    break;
  }
  free(residents);
}

static void work(void) {
  for (int i = 0; i < 400; ++i) {
    char* const large = calloc(1, 100000 + 1000 * (size_t)(i % 50));
    char* const small = malloc(50 + (size_t)i);
    if (large == NULL || small == NULL) abort();
    memset(small, 0, 50);
    large[i] = 1;
    char* const larger = realloc(large, 300000);
    free(small);
    free(larger);
  }
}

int main(int count, char** words) {
  if (count < 3) return 2;
  state = strtoull(words[1], NULL, 10) * 2654435761U + 88172645463325252ULL;
  work();
  find_mappings();
  if (mappings_used == 0) return 3;
  for (long left = atol(words[2]); left > 0; --left) {
    scribble(mappings[any() % (uint64_t)mappings_used]);
    if (left % 16 == 0) work();
    if (left % 64 == 0 && fork() == 0) {
      work();
      _exit(0);
    }
  }
  work();
  puts("done");
  return 0;
}
