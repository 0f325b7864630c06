// Returns memory to the kernel in small parts, in a loop. Usage: trims ROUNDS PAGES. In each round, a mapping of 12
// pages is made and unmapped 32 times. PAGES pages are written, but only in the last of these 32 mappings. The program
// thus returns ROUNDS x PAGES pages in 32 x ROUNDS calls. A recorder that examines every 32nd call sees either all of
// these pages or no page.
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
