// mmap beyond RLIMIT_AS fails with ENOMEM, and changes nothing.
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

static void limit(int limited) {  // of the address space: nothing more may be mapped
  struct rlimit to;
  getrlimit(RLIMIT_AS, &to);
  to.rlim_cur = limited ? 4096 : to.rlim_max;
  setrlimit(RLIMIT_AS, &to);
}

int main(void) {
  long r = 0;
  unsigned char* m0 = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(m0, 0xa5, 32768);
  limit(1);
  unsigned char* m1 = mmap(NULL, 262144, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  r = (long)m1;
  if (r != -1 || errno != ENOMEM) return printf("broken: mmap beyond RLIMIT_AS: %ld, %s\n", r, strerror(errno)), 1;
  (void)r;
  puts("kept");
  return 0;
}
