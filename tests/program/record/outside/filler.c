/* Fills memory of every alignment by memset, and verifies each byte. Usage: filler PASSES. The program runs once for
 * each of the settings below. Each setting makes glibc use another variant of memset, if the processor has that
 * variant. At the beginning and at the end, the program prints "ready" and waits for a line. Then it prints three
 * numbers: calls to memset with zero, calls with other bytes, and calls that left a wrong byte. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALIGNMENTS = 64, SHORT = 160, GUARD = 64, LONGEST = 70000, PAUSE_EVERY = 500 };

static const char* const variants[] = {"",
                                       "-ERMS",
                                       "Prefer_ERMS",
                                       "-AVX512F",
                                       "-AVX512F,-ERMS",
                                       "-AVX512VL",
                                       "-AVX512F,-AVX512VL",
                                       "-AVX512F,-AVX512VL,-ERMS",
                                       "-AVX512F,-AVX512VL,-RTM",
                                       "-AVX512F,-AVX512VL,-RTM,-ERMS",
                                       "-AVX512F,-AVX512VL,-AVX2",
                                       "-AVX512F,-AVX512VL,-AVX2,-ERMS"};
static const int lengths[] = {255, 256, 257, 511, 513, 1023, 2049, 4096, 10001, LONGEST};

static unsigned char memory[GUARD + ALIGNMENTS + LONGEST + GUARD];
static long zeros, others, wrong;

static void expect(const unsigned char* from, const unsigned char* to, unsigned char byte, int* bad) {
  for (; from < to; ++from) *bad += *from != byte;
}

/* Calls memset: with -fno-builtin, the compiler does not replace the call by stores of its own. */
__attribute__((noinline)) static void fill_here(unsigned char* block, int byte, size_t bytes) {
  memset(block, byte, bytes);
}

static void check(unsigned char* block, int byte, size_t bytes) {
  /* Fills the block and its surroundings with another byte. This also fills the registers that a faulty memset would
     store. */
  for (unsigned char* at = block - GUARD; at < block + bytes + GUARD; ++at) *at = 0x5a;
  fill_here(block, byte, bytes);
  int bad = 0;
  expect(block - GUARD, block, 0x5a, &bad);
  expect(block, block + bytes, (unsigned char)byte, &bad);
  expect(block + bytes, block + bytes + GUARD, 0x5a, &bad);
  wrong += bad != 0;
  ++*(byte == 0 ? &zeros : &others);
  if ((zeros + others) % PAUSE_EVERY == 0) usleep(1000);
}

static void pass(void) {
  for (int at = 0; at < ALIGNMENTS; ++at) {
    unsigned char* const block = memory + GUARD + at;
    for (int bytes = 0; bytes < SHORT; ++bytes) {
      check(block, 0, bytes);
      check(block, 1 + (at + bytes) % 255, bytes);
    }
  }
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    for (int at = 0; at < ALIGNMENTS; at += 7) check(memory + GUARD + at, i % 2 == 0 ? 0 : 0x6e, lengths[i]);
  }
}

int main(int count, char** words) {
  if (count > 2) {
    pass();
    printf("%ld %ld %ld\n", zeros, others, wrong);
    return 0;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  getchar();
  int failed = 0;
  for (unsigned i = 0; i < sizeof variants / sizeof *variants; ++i) {
    char setting[200];
    snprintf(setting, sizeof setting, "GLIBC_TUNABLES=glibc.cpu.hwcaps=%s", variants[i]);
    char* const environment[] = {setting, NULL};
    char* const arguments[] = {words[0], words[1], "pass", NULL};
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, words[0], NULL, NULL, arguments, environment) != 0 || waitpid(child, &status, 0) != child ||
        status != 0) {
      ++failed;
    }
  }
  printf("failed %d\n", failed);
  getchar();
  return 0;
}
