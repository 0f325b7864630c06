// brk beyond RLIMIT_AS leaves the break where it was.
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
  unsigned char* m0 = (unsigned char*)syscall(SYS_brk, 0);
  limit(1);
  r = syscall(SYS_brk, m0 + 16777216);
  if (!(r == (long)m0)) return puts("broken: brk beyond RLIMIT_AS moved the break"), 1;
  (void)r;
  puts("kept");
  return 0;
}
