// Starts processes and threads, each of which fills memory with zeros and verifies the zeros. Usage: starter ROUNDS.
// The program prints "ready" and waits for a line at the beginning, and again at the end. For each kind of process or
// thread, the program prints three numbers: started, could not be started, and found a wrong byte or died.

#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

namespace {

constexpr std::size_t kBytes = 5000;
constexpr int kRight = 7;

struct Outcome {
  long started = 0;
  long failed = 0;
  long wrong = 0;
};

extern "C" __attribute__((noinline)) void clear_here(unsigned char* memory, std::size_t bytes) {
  memset(memory, 0, bytes);
  asm volatile("" : : "r"(memory) : "memory");
}

bool clears_right() {
  unsigned char memory[kBytes];
  for (unsigned char& each : memory) each = 0x5a;
  clear_here(&memory[0], kBytes);
  for (const unsigned char each : memory) {
    if (each != 0) return false;
  }
  return true;
}

void* in_thread(void* wrong) {
  if (!clears_right()) __atomic_add_fetch(static_cast<long*>(wrong), 1, __ATOMIC_RELAXED);
  return nullptr;
}

void wait_for(pid_t child, Outcome& outcome) {
  int status = 0;
  ++outcome.started;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != kRight) ++outcome.wrong;
}

void add_fork(Outcome& outcome) {
  const pid_t child = fork();
  if (child == 0) _exit(clears_right() ? kRight : 1);
  if (child < 0) {
    ++outcome.failed;
  } else {
    wait_for(child, outcome);
  }
}

void add_spawn(Outcome& outcome, char* program) {
  char* const words[] = {program, const_cast<char*>("0"), const_cast<char*>("child"), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, program, nullptr, nullptr, words, environ) != 0) {
    ++outcome.failed;
  } else {
    wait_for(child, outcome);
  }
}

void add_thread(Outcome& outcome) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, in_thread, &outcome.wrong) != 0) {
    ++outcome.failed;
  } else {
    pthread_join(thread, nullptr);
    ++outcome.started;
  }
}

void add_std_thread(Outcome& outcome) {
  try {
    std::thread(in_thread, &outcome.wrong).join();
    ++outcome.started;
  } catch (const std::system_error&) {
    ++outcome.failed;
  }
}

void print(const char* kind, const Outcome& outcome) {
  std::printf("%s %ld %ld %ld\n", kind, outcome.started, outcome.failed, outcome.wrong);
}

}  // namespace

int main(int /*count*/, char** words) {
  if (words[2] != nullptr) return clears_right() ? kRight : 1;
  const long rounds = std::atol(words[1]);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::puts("ready");
  std::getchar();
  Outcome forks, spawns, threads, std_threads;
  for (long i = 0; i < rounds; ++i) {
    add_fork(forks);
    add_thread(threads);
    add_std_thread(std_threads);
    if (i % 10 == 0) add_spawn(spawns, words[0]);
  }
  print("fork", forks);
  print("spawn", spawns);
  print("thread", threads);
  print("std::thread", std_threads);
  std::getchar();
  return 0;
}
