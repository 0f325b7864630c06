// Programs whose cost has a single cause each. record_advice_test.py contains the right advice for each program.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "block.h"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

void fill(void* block, std::size_t bytes, int value = 1) {
  std::memset(block, value, bytes);
  escape(block);
}

/// Clears a block and uses little of it.
void clear_and_use(void* block, std::size_t bytes) {
  escape(block);
  fill(block, bytes, 0);
  for (std::size_t at = 0; at < bytes; at += std::size_t{100} * 4096) static_cast<char*>(block)[at] = 1;
  escape(block);
}

void by_hand() { clear_and_use(std::malloc(96 * kMiB), 96 * kMiB); }

void by_hand_aligned() { clear_and_use(std::aligned_alloc(4096, 96 * kMiB), 96 * kMiB); }

/// Clears a buffer for each message, and reads the message into a part of it.
void read_buffer() {
  const int zeros = ::open("/dev/zero", O_RDONLY);
  for (int i = 0; i < 1000; ++i) {
    char* const buffer = static_cast<char*>(std::malloc(kMiB));
    escape(buffer);
    fill(buffer, kMiB, 0);
    if (::read(zeros, buffer, 16 << 10) < 0) std::abort();
    std::free(buffer);
  }
  ::close(zeros);
}

/// Frees all blocks, but the next block is larger than each of the resulting holes.
void holes() {
  for (std::size_t i = 0; i < 40; ++i) {
    const std::size_t bytes = 2 * kMiB + i * (64 << 10);
    void* const block = memalign(64, bytes);
    fill(block, bytes);
    escape(std::malloc(25));
    std::free(block);
  }
}

/// Frees and reuses blocks, while the program has more memory that does not come from the allocator.
void reuse_blocks() {
  for (int i = 0; i < 4; ++i) {
    void* const block = std::malloc(48 * kMiB);
    fill(block, 40 * kMiB);
    std::free(block);
  }
}

void reuse_beside_mapping() {
  fill(::mmap(nullptr, 128 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 128 * kMiB);
  reuse_blocks();
}

void reuse_beside_data() {
  static char data[128 * kMiB];
  fill(&data[0], sizeof data);
  reuse_blocks();
}

void hold() {
  for (int i = 0; i < 128; ++i) {
    void* const block = std::malloc(kMiB);
    fill(block, kMiB);
  }
}

pthread_barrier_t together;

/// Uses one buffer again and again, at the same time as other threads.
void* use_buffers(void* /*unused*/) {
  for (int i = 0; i < 20; ++i) {
    void* const block = std::malloc(11'700'000);
    for (std::size_t at = 0; at < 11'700'000; at += 4096) static_cast<char*>(block)[at] = 1;
    escape(block);
    pthread_barrier_wait(&together);
    std::free(block);
  }
  return nullptr;
}

void buffers() {
  pthread_t threads[8];
  pthread_barrier_init(&together, nullptr, 8);
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, use_buffers, nullptr);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

void trim(int rounds) {
  static void* blocks[512];
  for (int round = 0; round < rounds; ++round) {
    for (void*& block : blocks) {
      block = std::malloc(96 << 10);
      fill(block, 96 << 10);
    }
    for (std::size_t i = 0; i < 512; i += 2) std::free(blocks[i]);
    malloc_trim(0);
    for (std::size_t i = 1; i < 512; i += 2) std::free(blocks[i]);
  }
}

void* use_stack(void* /*unused*/) {
  char memory[2 * kMiB];
  fill(&memory[0], sizeof memory);
  return nullptr;
}

void stacks() {
  for (int i = 0; i < 100; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, use_stack, nullptr);
    pthread_join(thread, nullptr);
  }
}

void unmap() {
  for (int i = 0; i < 50; ++i) {
    void* const memory = ::mmap(nullptr, 4 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fill(memory, 4 * kMiB);
    ::munmap(memory, 4 * kMiB);
  }
}

void refill() {
  for (int i = 0; i < 20; ++i) {
    void* const block = std::malloc(48 * kMiB);
    fill(block, 48 * kMiB);
    std::free(block);
  }
}

/// Allocates blocks above 1 GiB, and uses a part of each block.
void refill_huge() {
  for (int i = 0; i < 10; ++i) {
    void* const block = std::malloc(1100 * kMiB);
    fill(block, 48 * kMiB);
    std::free(block);
  }
}

/// Makes blocks grow page by page to 12 pages, and frees the blocks.
void* grow_blocks(void* /*unused*/) {
  char* blocks[256];
  for (int round = 0; round < 30; ++round) {
    for (char*& block : blocks) block = nullptr;
    for (std::size_t pages = 1; pages <= 12; ++pages) {
      for (char*& block : blocks) {
        block = static_cast<char*>(std::realloc(block, pages * 4096));
        block[(pages - 1) * 4096] = 1;
      }
    }
    for (char* const block : blocks) std::free(block);
  }
  return nullptr;
}

void grow() {
  pthread_t threads[4];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, grow_blocks, nullptr);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

/// Forks children that write to all memory shared with the parent.
void copy() {
  void* const block = std::malloc(32 * kMiB);
  fill(block, 32 * kMiB);
  for (int i = 0; i < 10; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      fill(block, 32 * kMiB, 2);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* word) { return std::strcmp(what, word) == 0; };
  if (is("hand")) by_hand();
  if (is("hand-aligned")) by_hand_aligned();
  if (is("read")) read_buffer();
  if (is("holes")) holes();
  if (is("hold")) hold();
  if (is("mapping")) reuse_beside_mapping();
  if (is("data")) reuse_beside_data();
  if (is("buffers")) buffers();
  if (is("trims")) trim(20);
  if (is("trims-once")) trim(1);
  if (is("stacks")) stacks();
  if (is("unmaps")) unmap();
  if (is("refills")) refill();
  if (is("refills-huge")) refill_huge();
  if (is("copies")) copy();
  if (is("grows")) grow();
  return 0;
}
