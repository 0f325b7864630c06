// Usage: refill COUNTER. In each round, fills and frees eight blocks of 1 MiB, which glibc returns to the kernel.
// COUNTER is a file of 8 bytes for the number of rounds.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

int main(int, char** words) {
  const int file = open(words[1], O_RDWR);
  auto* rounds = static_cast<volatile std::uint64_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  for (;;) {
    void* blocks[8];
    for (void*& block : blocks) {
      block = std::malloc(std::size_t{1} << 20);
      std::memset(block, 7, std::size_t{1} << 20);
    }
    for (void* block : blocks) std::free(block);
    *rounds = *rounds + 1;
  }
}
