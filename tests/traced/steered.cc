// Obeys the lines of its standard input, and answers each with "ok" and whether it is recording.
//
// Usage: steered [LIBRARY]
//   numbers N   records N more numbers, and the event `other` after every tenth
//   thread N    starts a thread that records N more numbers and ends
//   fork N      starts a child that records N numbers of its own and ends
//   library N   opens LIBRARY, calls its functions and closes it, N times
//   burst N     takes N page faults as fast as it can
//   wait        waits until nothing is being recorded, 30 s at most
//   kill        kills itself by SIGKILL
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "numbers.h"

ZEROTAX_EVENT(other, (uint64_t, value))

namespace {

std::uint64_t next = 0;

void record(std::uint64_t count) {
  for (const std::uint64_t end = next + count; next < end; ++next) {
    ZEROTAX_RECORD(number, .who = 0, .value = next);
    if (next % 10 == 9) ZEROTAX_RECORD(other, .value = next);
  }
}

void fork_one(std::uint64_t count) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    record_numbers(1, count);
    std::_Exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

void use_library(const char* library) {
  void* handle = library == nullptr ? nullptr : ::dlopen(library, RTLD_NOW);
  if (handle == nullptr) return;
  reinterpret_cast<void (*)()>(::dlsym(handle, "called_in_library"))();
  ::dlclose(handle);
}

void take_faults(std::uint64_t count) {
  const auto kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  void* memory = ::mmap(nullptr, count * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  ::madvise(memory, count * kPage, MADV_NOHUGEPAGE);
  for (std::uint64_t i = 0; i < count; ++i) static_cast<volatile char*>(memory)[i * kPage] = 1;
  ::munmap(memory, count * kPage);
}

void wait_until_off() {
  for (int i = 0; i < 30'000 && zerotax_trace_is_on() != 0; ++i) ::usleep(1000);
}

}  // namespace

int main(int argc, char** argv) {
  char word[16];
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    unsigned long long count = 0;
    if (std::sscanf(line, "%15s %llu", word, &count) < 1) continue;
    if (std::strcmp(word, "numbers") == 0) record(count);
    if (std::strcmp(word, "thread") == 0) std::thread(record, count).join();
    if (std::strcmp(word, "fork") == 0) fork_one(count);
    for (unsigned long long i = 0; i < count && std::strcmp(word, "library") == 0; ++i) {
      use_library(argc > 1 ? argv[1] : nullptr);
    }
    if (std::strcmp(word, "burst") == 0) take_faults(count);
    if (std::strcmp(word, "wait") == 0) wait_until_off();
    if (std::strcmp(word, "kill") == 0) ::raise(SIGKILL);
    std::printf("ok %d\n", zerotax_trace_is_on());
    std::fflush(stdout);
  }
  return 0;
}
