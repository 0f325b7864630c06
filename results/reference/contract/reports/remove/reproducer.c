// After MADV_REMOVE, shared memory reads as zeros.
// Exits with 1, and says what it found, where that is broken.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(const unsigned char* p, size_t bytes, int byte) {
  for (size_t i = 0; i < bytes; i++) {
    if (p[i] == byte) continue;
    printf("broken: byte %zu of %zu at %p is %#x, not %#x\n", i, bytes, (void*)p, p[i], byte);
    exit(1);
  }
}

int main(void) {
  long r = 0;
  unsigned char* m0 = mmap(NULL, 131072, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  memset(m0, 0xa5, 131072);
  r = madvise(m0 + 16384, 32768, MADV_REMOVE);
  check(m0 + 16384, 32768, 0x00);
  (void)r;
  puts("kept");
  return 0;
}
