// Allocates, clears and frees on a handler's stack of 8 KiB ("handler"), or on a coroutine's stack of 4 KiB
// ("coroutine"). The memory below either stack is unmapped. With "depth", the program prints how many bytes of a large
// stack the same work takes.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static void work(void) {
  for (size_t bytes = 100; bytes <= 1 << 20; bytes *= 10) {
    char* block = malloc(bytes);
    memset(block, 0, bytes);
    char* larger = realloc(block, 2 * bytes);
    free(larger);
    char* zeroed = calloc(1, bytes);
    free(zeroed);
    void* aligned = 0;
    if (posix_memalign(&aligned, 4096, bytes)) exit(3);
    explicit_bzero(aligned, bytes);
    free(aligned);
    char* mapped = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 0, bytes);
    madvise(mapped, bytes, MADV_DONTNEED);
    munmap(mapped, bytes);
  }
}

static void handle(int number) {
  (void)number;
  work();
}

static char* stack_of(size_t bytes) {
  char* all = mmap(0, bytes + 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED || mprotect(all + 65536, bytes, PROT_READ | PROT_WRITE)) exit(3);
  return all + 65536;
}

static void run_on(char* bytes, size_t size) {
  static ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = bytes;
  there.uc_stack.ss_size = size;
  there.uc_link = &here;
  makecontext(&there, work, 0);
  swapcontext(&here, &there);
}

int main(int count, char** words) {
  if (count < 2) return 2;
  if (strcmp(words[1], "handler") == 0) {
    stack_t stack = {.ss_sp = stack_of(8192), .ss_size = 8192};
    if (sigaltstack(&stack, 0)) return 3;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    for (int i = 0; i < 10; i++) raise(SIGUSR1);
  } else if (strcmp(words[1], "coroutine") == 0) {
    run_on(stack_of(4096), 4096);
  } else {
    unsigned char* stack = (unsigned char*)stack_of(65536);
    memset(stack, 0xa5, 65536);
    run_on((char*)stack, 65536);
    size_t untouched = 0;
    while (stack[untouched] == 0xa5) untouched++;
    printf("%zu\n", 65536 - untouched);
    return 0;
  }
  puts("done");
}
