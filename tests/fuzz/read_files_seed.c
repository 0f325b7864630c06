/* The library whose bytes read_files_random damages. The library has inlined and static functions, and calls malloc's
family. */ #include <stdlib.h>
#include <string.h>

static inline __attribute__((always_inline)) long inlined(long value) {
  long sum = 0;
  for (long i = 0; i < value; ++i) sum += i * value;
  return sum;
}

static __attribute__((noinline)) long inner(long value) { return inlined(value) + inlined(value + 1); }

__attribute__((noinline)) long seed_outer(long value) {
  char* block = calloc(1, (size_t)value);
  if (block == NULL) return 0;
  memset(block, 1, (size_t)value);
  const long sum = inner(value) + block[0];
  free(block);
  return sum;
}

long seed_alloca(long value) {
  char* block = __builtin_alloca((size_t)value);
  memset(block, 2, (size_t)value);
  return inner(block[value - 1]);
}
