// Fills memory. Usage: fills VALUE|bzero|calloc BYTES SECONDS. Fills blocks of BYTES, one after the other, by memset
// with VALUE, by bzero, or by calloc. Each block from calloc is dirty memory (in glibc, below the mmap threshold).
#include <strings.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

int main(int count, char** words) {
  if (count != 4) return 2;
  const char* how = words[1];
  const std::size_t bytes = std::strtoul(words[2], nullptr, 10);
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(std::atof(words[3]) * CLOCKS_PER_SEC);
  while (std::clock() < end) {
    for (int i = 0; i < 8; ++i) {
      void* block = std::strcmp(how, "calloc") == 0 ? std::calloc(bytes, 1) : std::malloc(bytes);
      if (block == nullptr) return 3;
      if (std::strcmp(how, "bzero") == 0) {
        ::bzero(block, bytes);
      } else {
        std::memset(block, std::strcmp(how, "calloc") == 0 ? 7 : std::atoi(how), bytes);
      }
      asm volatile("" : : "r"(block) : "memory");
      std::free(block);
    }
  }
  return 0;
}
