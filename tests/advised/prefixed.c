// Imitates a Rust program with a built-in jemalloc, whose functions and variable have a prefix. The allocator returns
// each block to the kernel, unless the environment variable forbids this.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char* const message = "<jemalloc>: out of memory\n";
static void* kept;

static void* _rjem_malloc(size_t size) {
  if (kept != NULL) {
    void* block = kept;
    kept = NULL;
    return block;
  }
  void* block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) {
    fputs(message, stderr);
    abort();
  }
  return block;
}

static void _rjem_free(void* block, size_t size) {
  /* jemalloc compares the names of settings with such strings. */
  static const char* const volatile names[] = {"dirty_decay_ms", "muzzy_decay_ms"};
  const char* settings = secure_getenv("_RJEM_MALLOC_CONF");
  const char* setting = settings == NULL ? NULL : strstr(settings, names[0]);
  if (setting != NULL && strstr(setting, names[1]) != NULL && strstr(setting, ":-1") != NULL) {
    kept = block;
  } else {
    munmap(block, size);
  }
}

int main(void) {
  const size_t size = 8 << 20;
  unsigned long sum = 0;
  for (int round = 0; round < 60; ++round) {
    volatile char* block = _rjem_malloc(size);
    for (size_t at = 0; at < size; at += 4096) block[at] = (char)round;
    sum += (unsigned char)block[size / 2];
    _rjem_free((void*)block, size);
  }
  printf("%lu\n", sum);
  return 0;
}
