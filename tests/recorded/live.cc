// Counts the usable bytes of its own blocks. Usage: live WAY FILE. Writes the peak of live bytes, over all its
// processes, into FILE without allocating. Blocks that are live when main begins are not included, because each WAY has
// the same. In `early`, one block is allocated before the constructors of any library run, and freed later.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "block.h"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::size_t live = 0;
std::size_t peak = 0;
const char* path = nullptr;

/// Writes the highest peak of all processes and programs.
int write_peak() {
  const int fd = open(path, O_RDWR | O_CREAT, 0644);
  char text[32]{};
  if (fd < 0 || pread(fd, &text[0], sizeof text - 1, 0) < 0) return 3;
  peak = std::max(peak, static_cast<std::size_t>(std::strtoull(&text[0], nullptr, 10)));
  const int length = std::snprintf(&text[0], sizeof text, "%20zu\n", peak);
  return pwrite(fd, &text[0], static_cast<std::size_t>(length), 0) == length && close(fd) == 0 ? 0 : 3;
}

void* got(void* block) {
  escape(block);
  live += malloc_usable_size(block);
  peak = std::max(peak, live);
  return block;
}

void give_back(void* block) {
  live -= malloc_usable_size(block);
  std::free(block);
}

void* resized(void* block, std::size_t bytes) {
  const std::size_t before = malloc_usable_size(block);
  void* const moved = std::realloc(block, bytes);
  if (moved == nullptr && bytes != 0) return block;
  live -= before;
  return moved == nullptr ? nullptr : got(moved);
}

/// Frees a block by realloc with size 0, which may return a block of size 0.
void end_by_realloc(void* block) {
  block = resized(block, 0);
  if (block != nullptr) give_back(block);
}

void* aligned(std::size_t bytes) {
  void* block = nullptr;
  return posix_memalign(&block, 4096, bytes) == 0 ? got(block) : nullptr;
}

void known() {
  void* const first = got(std::malloc(3 * kMiB));
  give_back(got(std::calloc(5, kMiB)));
  give_back(first);
  give_back(got(std::malloc(2 * kMiB)));
}

void family() {
  void* blocks[] = {got(std::malloc(kMiB)),
                    got(std::calloc(kMiB, 1)),
                    aligned(kMiB),
                    got(aligned_alloc(64, kMiB)),
                    got(memalign(4096, kMiB)),
                    got(valloc(kMiB)),
                    got(pvalloc(kMiB)),
                    got(reallocarray(nullptr, 16, kMiB / 16))};
  for (void* block : blocks) give_back(block);
  give_back(got(std::malloc(kMiB)));
}

void reallocs() {
  void* block = got(std::malloc(2 * kMiB));
  for (const std::size_t bytes : {6 * kMiB, 6 * kMiB + 100, std::size_t{100}, kMiB}) block = resized(block, bytes);
  // The call fails, and the old block stays.
  block = resized(block, SIZE_MAX / 4);
  void* const other = got(std::malloc(4 * kMiB));
  end_by_realloc(other);
  block = resized(block, 7 * kMiB);
  give_back(block);
}

void small() {
  constexpr std::size_t kBlocks = 20'000;
  auto** blocks = static_cast<void**>(got(std::malloc(kBlocks * sizeof(void*))));
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < kBlocks; ++i) blocks[i] = got(std::malloc(24 + i % 100));
    for (std::size_t i = 0; i < kBlocks; ++i) give_back(blocks[i]);
  }
  give_back(blocks);
}

/// Calls every function, with sizes from 0 to 1 MiB.
void random_calls() {
  void* blocks[200]{};
  std::uint64_t number = 42;
  const auto next = [&](std::uint64_t below) {
    number = number * 6364136223846793005U + 1442695040888963407U;
    return (number >> 33) % below;
  };
  give_back(got(std::malloc(kMiB)));
  for (int i = 0; i < 30'000; ++i) {
    void*& block = blocks[next(std::size(blocks))];
    const std::size_t bytes = next(std::uint64_t{1} << next(21)) + 1;
    const auto call = next(8);
    if (block != nullptr && call < 3) {
      block = resized(block, bytes);
      continue;
    }
    if (block != nullptr) give_back(block);
    block = call == 0   ? nullptr
            : call == 1 ? got(std::calloc(1, bytes))
            : call == 2 ? aligned(bytes)
            : call == 3 ? got(valloc(bytes))
            : call == 4 ? got(reallocarray(nullptr, bytes, 1))
                        : got(std::malloc(bytes));
  }
}

/// All threads hold their blocks at the same time.
void threads() {
  constexpr std::size_t kThreads = 8;
  static pthread_barrier_t barrier;
  static std::atomic<std::size_t> bytes{0};
  pthread_barrier_init(&barrier, nullptr, kThreads);
  pthread_t all[kThreads];
  for (pthread_t& thread : all) {
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          for (int i = 0; i < 2000; ++i) std::free(std::malloc(64 + i));
          void* block = std::malloc(2 * kMiB);
          escape(block);
          bytes += malloc_usable_size(block);
          pthread_barrier_wait(&barrier);
          std::free(block);
          return nullptr;
        },
        nullptr);
  }
  for (const pthread_t thread : all) pthread_join(thread, nullptr);
  peak = bytes;
}

/// The child inherits its parent's live bytes.
void in_child() {
  void* const first = got(std::malloc(3 * kMiB));
  const pid_t child = fork();
  if (child == 0) {
    give_back(got(std::malloc(4 * kMiB)));
    give_back(first);
    give_back(got(std::malloc(5 * kMiB)));
    std::exit(write_peak());
  }
  int status = 0;
  waitpid(child, &status, 0);
  // These blocks are smaller than the child's peak. The process with the highest peak counts.
  give_back(got(std::malloc(2 * kMiB)));
  give_back(first);
}

void* handed = nullptr;

/// A signal handler frees a block of the program.
void in_handler() {
  std::signal(SIGUSR1, [](int) { give_back(handed); });
  for (int i = 0; i < 100; ++i) {
    handed = got(std::malloc(2 * kMiB));
    std::raise(SIGUSR1);
  }
}

void* from_before = nullptr;

void early() {
  got(from_before);
  void* const block = got(std::malloc(2 * kMiB));
  give_back(from_before);
  give_back(got(std::malloc(3 * kMiB)));
  give_back(block);
}

void operators() {
  void* const plain = got(::operator new(2 * kMiB));
  void* const aligned_one = got(::operator new (kMiB, std::align_val_t{256}));
  void* const quiet = got(::operator new[](3 * kMiB, std::nothrow));
  for (void* block : {plain, aligned_one, quiet}) live -= malloc_usable_size(block);
  ::operator delete(plain, 2 * kMiB);
  ::operator delete (aligned_one, std::align_val_t{256});
  ::operator delete[](quiet, std::nothrow);
  for (int i = 0; i < 4; ++i) {
    void* const block = got(::operator new(4 * kMiB));
    live -= malloc_usable_size(block);
    ::operator delete(block);
  }
}

/// Runs before the constructors of all libraries.
void before_constructors(int /*count*/, char** words, char** /*environment*/) {
  if (words[1] != nullptr && std::strcmp(words[1], "early") == 0) from_before = std::malloc(4 * kMiB);
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const preinit)(int, char**, char**) = before_constructors;

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  path = words[2];
  constexpr struct {
    const char* name;
    void (*run)();
  } kWays[] = {{"known", known},         {"family", family},   {"realloc", reallocs}, {"small", small},
               {"random", random_calls}, {"threads", threads}, {"child", in_child},   {"handler", in_handler},
               {"operators", operators}, {"early", early}};
  for (const auto& way : kWays) {
    if (std::strcmp(words[1], way.name) == 0) way.run();
  }
  // The next program begins without blocks.
  if (std::strcmp(words[1], "exec") == 0) {
    got(std::malloc(9 * kMiB));
    if (write_peak() != 0) return 3;
    execl(words[0], words[0], "known", path, nullptr);
  }
  return write_peak();
}
