// Allocates memory, fills it and returns it, so that the kernel must zero it again.
// Usage: refill WAY ROUNDS BUFFERS BYTES.
// `malloc`: BUFFERS blocks are allocated, filled and freed together, ROUNDS times.
// `threads`: each of BUFFERS threads allocates, fills and frees one block at a time, ROUNDS times.
// `huge`: like `malloc`, in huge pages.
// `sparse`: like `huge`, but one byte in 64 KiB is written.
// `unmap`: the program maps and unmaps the memory itself.
// The last line of output is the number of minor faults that the kernel has counted since main began.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "block.h"

namespace {

std::size_t rounds = 0;
std::size_t buffers = 0;
std::size_t bytes = 0;

constexpr std::size_t kHuge = std::size_t{2} << 20;

void* get_huge() {
  void* block = nullptr;
  if (posix_memalign(&block, kHuge, bytes) != 0 || madvise(block, bytes, MADV_HUGEPAGE) != 0) std::exit(3);
  return block;
}

void fill(void* block, bool sparse) {
  constexpr std::size_t kStep = std::size_t{64} << 10;
  if (!sparse) std::memset(block, 7, bytes);
  for (std::size_t i = 0; sparse && i < bytes; i += kStep) static_cast<volatile char*>(block)[i] = 7;
}

void fill_and_free(bool huge, bool sparse) {
  std::vector<void*> all(buffers);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (void*& block : all) {
      block = huge ? get_huge() : std::malloc(bytes);
      fill(block, sparse);
      escape(block);
    }
    for (void* block : all) std::free(block);
  }
}

void* one_block_at_a_time(void* /*nothing*/) {
  for (std::size_t round = 0; round < rounds; ++round) {
    void* block = std::malloc(bytes);
    std::memset(block, 7, bytes);
    escape(block);
    std::free(block);
  }
  return nullptr;
}

void in_threads() {
  std::vector<pthread_t> threads(buffers);
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, one_block_at_a_time, nullptr);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

void map_and_unmap() {
  for (std::size_t round = 0; round < rounds * buffers; ++round) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 7, bytes);
    escape(memory);
    munmap(memory, bytes);
  }
}

long minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  const std::string way = words[1];
  rounds = std::strtoul(words[2], nullptr, 10);
  buffers = std::strtoul(words[3], nullptr, 10);
  bytes = std::strtoul(words[4], nullptr, 10);
  const long before = minor_faults();
  const bool sparse = way == "sparse";
  if (way == "malloc" || way == "huge" || sparse) fill_and_free(way != "malloc", sparse);
  if (way == "threads") in_threads();
  if (way == "unmap") map_and_unmap();
  std::printf("%ld\n", minor_faults() - before);
  return 0;
}
