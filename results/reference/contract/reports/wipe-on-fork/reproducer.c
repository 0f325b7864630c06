// Memory with MADV_WIPEONFORK is zero in a child, and as it was in the parent.
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
  int status;
  unsigned char* m0 = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(m0, 0xa5, 32768);
  r = madvise(m0, 32768, MADV_WIPEONFORK);
  if (fork() == 0) {
    check(m0, 32768, 0x00);
    _exit(0);
  }
  if (wait(&status) < 0 || status != 0) return 1;
  (void)r;
  puts("kept");
  return 0;
}
