// Writes one page of each block. Usage: touches HOW COUNT BYTES.
// `exit`: the blocks are kept to the end.
// `kill`: like `exit`, but SIGKILL ends the program.
// `late`: like `kill`, after 300 ms.
// `map`: like `late`, with anonymous mappings.
// `alone`: like `late`, but the main thread ends at once, and another thread waits.
// `more`: like `exit`, followed by 400,000 small calls.
// `threads`: for each block, a thread allocates, writes and frees the block; eight threads run at a time.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "block.h"

namespace {

std::size_t bytes = 0;

char* touched(void* block) {
  auto* const bytes_of = static_cast<char*>(block);
  if (block == nullptr || block == MAP_FAILED) std::exit(3);
  static_cast<volatile char*>(bytes_of)[bytes / 2] = 1;
  escape(block);
  return bytes_of;
}

void* in_thread(void* /*nothing*/) {
  std::free(touched(std::malloc(bytes)));
  return nullptr;
}

void* wait_and_kill(void* /*nothing*/) {
  const timespec while_{0, 300'000'000};
  ::nanosleep(&while_, nullptr);
  ::kill(::getpid(), SIGKILL);
  return nullptr;
}

void run_threads(long count) {
  constexpr int kAtOnce = 8;
  for (long i = 0; i < count; i += kAtOnce) {
    pthread_t threads[kAtOnce];
    for (pthread_t& thread : threads) ::pthread_create(&thread, nullptr, in_thread, nullptr);
    for (const pthread_t thread : threads) ::pthread_join(thread, nullptr);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  const auto is = [&](const char* how) { return std::strcmp(words[1], how) == 0; };
  const long blocks = std::strtol(words[2], nullptr, 10);
  bytes = std::strtoul(words[3], nullptr, 10);
  if (is("threads")) run_threads(blocks);
  for (long i = 0; i < blocks && !is("threads"); ++i) {
    touched(is("map") ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                      : std::malloc(bytes));
  }
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the blocks are kept to the end
  if (is("alone")) {
    pthread_t other{};
    ::pthread_create(&other, nullptr, wait_and_kill, nullptr);
    ::pthread_exit(nullptr);
  }
  if (is("late") || is("map")) wait_and_kill(nullptr);
  if (is("kill")) ::kill(::getpid(), SIGKILL);
  for (long i = 0; is("more") && i < 200'000; ++i) {
    void* const block = std::malloc(24);
    escape(block);
    std::free(block);
  }
  return 0;
}
