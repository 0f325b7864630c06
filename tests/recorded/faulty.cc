// Uses most of its CPU time in page faults. Usage: faulty SECONDS. The program runs for SECONDS of CPU time. The
// program repeatedly maps, fills and unmaps fresh memory, three quarters of which it fills by memset. After each fill,
// the program computes for an eighth of the time that the fill took.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

volatile unsigned long sink;

std::clock_t filling;

void computes() {
  const std::clock_t end = std::clock() + filling / 8;
  do {
    for (unsigned i = 0; i < 30'000; ++i) sink = sink * 31 + i;
  } while (std::clock() < end);
}

void fills_fresh_memory() {
  constexpr std::size_t kBytes = 4 << 20;
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::exit(3);
  ::madvise(memory, kBytes, MADV_NOHUGEPAGE);
  std::memset(memory, 1, kBytes / 4 * 3);
  auto* bytes = static_cast<volatile char*>(memory);
  for (std::size_t i = kBytes / 4 * 3; i < kBytes; i += 4096) bytes[i] = 1;
  ::munmap(memory, kBytes);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  std::puts("started");
  std::fflush(stdout);
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(std::atof(words[1]) * CLOCKS_PER_SEC);
  while (std::clock() < end) {
    const std::clock_t begun = std::clock();
    fills_fresh_memory();
    filling = std::clock() - begun;
    computes();
  }
  return 0;
}
