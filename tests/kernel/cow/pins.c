/* Forks COUNT times while holding MIB MiB of memory in small pages. With "pin", io_uring holds the memory as a registered
 * buffer, so that the kernel copies the memory in each fork. */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 4) return 9;
  const size_t bytes = (size_t)atoi(argv[2]) << 20;
  const int count = atoi(argv[3]);
  if (bytes != 0) {
    char* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 9;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    memset(memory, 1, bytes);
    if (strcmp(argv[1], "pin") == 0) {
      struct io_uring_params parameters = {0};
      const int ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
      const struct iovec buffer = {memory, bytes};
      if (ring < 0 || syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1) != 0) return 7;
    }
  }
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0 || waitpid(child, NULL, 0) != child) return 8;
  }
  return 0;
}
