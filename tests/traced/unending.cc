// Records numbers until it is killed, and stores their count in the first 8 bytes of FILE.
// Usage: unending FILE
#include <fcntl.h>
#include <sys/mman.h>

#include "numbers.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int file = ::open(argv[1], O_RDWR);
  void* page = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) return 2;
  auto* recorded = static_cast<volatile std::uint64_t*>(page);
  for (std::uint64_t i = 0;; ++i) {
    record_numbers(0, 1, i);
    *recorded = i + 1;
  }
}
