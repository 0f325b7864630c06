/* A function that uses no other part of its library, so that the other parts can be damaged while it runs. */
static inline __attribute__((always_inline)) long step(long sum, long i) {
  __asm__ volatile("" : "+r"(sum));
  return sum + i;
}

long spin_in_file(long times) {
  long sum = 0;
  for (long i = 0; i < times; ++i) sum = step(sum, i);
  return sum;
}
