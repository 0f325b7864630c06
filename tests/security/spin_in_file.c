/* A function that needs nothing of its library's other parts, which can be damaged while it runs. */
static inline __attribute__((always_inline)) long step(long sum, long i) {
  __asm__ volatile("" : "+r"(sum));
  return sum + i;
}

long spin_in_file(long times) {
  long sum = 0;
  for (long i = 0; i < times; ++i) sum = step(sum, i);
  return sum;
}
