// Small returns of memory to the kernel in a loop: trims ROUNDS PAGES. In each round one mapping is made and unmapped
// 32 times; the first time, PAGES of its 12 pages were written. It returns ROUNDS x PAGES pages in 32 x ROUNDS calls,
// and whoever looks at each 32nd call sees all of them or nothing.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

int main(int count, char** words) {
  const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::size_t kPages = 12;
  if (count < 3) return 2;
  const unsigned long rounds = std::strtoul(words[1], nullptr, 10);
  const unsigned long pages = std::strtoul(words[2], nullptr, 10);
  for (unsigned long round = 0; round < rounds; ++round) {
    for (int i = 0; i < 32; ++i) {
      void* const memory = ::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) return 3;
      for (unsigned long page = 0; i == 31 && page < pages; ++page)
        static_cast<volatile char*>(memory)[page * kPage] = 1;
      if (::munmap(memory, kPages * kPage) != 0) return 3;
    }
  }
  return 0;
}
