// Makes the allocations that its arguments name, in the order of the arguments. Usage: mix KIND:COUNT:BYTES...
// `malloc`, `calloc`: a block of BYTES.
// `hand`: malloc, and a memset of zeros over the whole block.
// `new`: operator new and delete.
// `grow`: malloc of half the bytes, and realloc to all bytes.
// `fork`: COUNT children that calloc BYTES once and call _exit.
// The first byte of each block is written, and the block is freed before the next block is allocated.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "block.h"

namespace {

void use_and_free(void* block) {
  escape(block);
  *static_cast<volatile char*>(block) = 1;
  std::free(block);
}

bool is(const char* kind, const char* name) { return std::strcmp(kind, name) == 0; }

void once(const char* kind, std::size_t bytes) {
  if (is(kind, "malloc")) use_and_free(std::malloc(bytes));
  if (is(kind, "calloc")) use_and_free(std::calloc(1, bytes));
  if (is(kind, "grow")) use_and_free(std::realloc(std::malloc(bytes / 2), bytes));
  if (is(kind, "hand")) {
    void* block = std::malloc(bytes);
    std::memset(block, 0, bytes);
    use_and_free(block);
  }
  if (is(kind, "new")) {
    void* block = ::operator new(bytes);
    escape(block);
    ::operator delete(block);
  }
  if (is(kind, "fork")) {
    const pid_t child = fork();
    if (child == 0) {
      use_and_free(std::calloc(1, bytes));
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    // C++ strings would allocate further blocks.
    char kind[16];
    long times = 0;
    std::size_t bytes = 0;
    if (std::sscanf(words[i], "%15[a-z]:%ld:%zu", &kind[0], &times, &bytes) != 3) return 2;
    for (long n = 0; n < times; ++n) once(&kind[0], bytes);
  }
  return 0;
}
