// Preloaded into a program, this library imitates a kernel whose MADV_DONTNEED has no effect.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int madvise(void* address, size_t bytes, int advice) {
  return advice == MADV_DONTNEED ? 0 : (int)syscall(SYS_madvise, address, bytes, advice);
}
