// steered [LIBRARY]: does what the lines of its standard input say, and answers each with "ok" and whether it is
// recording.
//   numbers N   records that many more numbers, and `other` after every tenth
//   thread N    a thread records that many more, and ends
//   fork N      a child records that many of its own, and ends
//   library N   opens LIBRARY, calls what is in it, and closes it, that often
//   burst N     takes that many page faults, as fast as it can
//   wait        until nothing is being recorded, 30 s at most
//   kill        itself by SIGKILL
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
