// MADV_DONTNEED over a hole fails with ENOMEM, and discards what is mapped.
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

int main(void) {
  long r = 0;
  unsigned char* m0 = mmap(NULL, 49152, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(m0, 0xa5, 49152);
  munmap(m0 + 16384, 16384);
  r = madvise(m0, 49152, MADV_DONTNEED);
  if (r != -1 || errno != ENOMEM) {
    printf("broken: MADV_DONTNEED over pages of which some are not mapped: %ld, %s\n", r, strerror(errno));
    return 1;
  }
  (void)r;
  puts("kept");
  return 0;
}
