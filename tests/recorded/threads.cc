// Runs eight threads at the same time. Each thread makes 500 calls to calloc of 100,000 bytes, 200 calls to malloc of
// 70,000 bytes, and 20,000 calls to calloc of 200 bytes. The blocks of malloc are cleared by hand. Afterwards, each
// thread forks a child that makes 3 calls to calloc of 2,000,000 bytes.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block.h"

namespace {

constexpr int kThreads = 8;

void* work(void* failed) {
  calloc_and_free(500, 100'000);
  for (int i = 0; i < 200; ++i) {
    void* block = std::malloc(70'000);
    escape(block);
    std::memset(block, 0, 70'000);
    escape(block);
    std::free(block);
  }
  calloc_and_free(20'000, 200);
  const pid_t child = ::fork();
  if (child == 0) {
    calloc_and_free(3, 2'000'000);
    ::_exit(0);
  }
  int status = 1;
  if (::waitpid(child, &status, 0) != child || status != 0) *static_cast<volatile bool*>(failed) = true;
  return nullptr;
}

}  // namespace

int main() {
  pthread_t threads[kThreads];
  bool failed = false;
  for (pthread_t& thread : threads) ::pthread_create(&thread, nullptr, work, &failed);
  for (pthread_t& thread : threads) ::pthread_join(thread, nullptr);
  return failed ? 1 : 0;
}
