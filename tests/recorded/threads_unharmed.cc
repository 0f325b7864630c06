// Eight threads allocate, fill, check and free blocks, and pass some blocks to other threads. Prints a sum that is the
// same in each run. Prints "started" first, so that an attaching tool finds the threads at work.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 6'000;

std::atomic<char*> handed_on{nullptr};
std::atomic<bool> damaged{false};

void check(const char* block, std::size_t bytes, char value) {
  for (std::size_t i = 0; i < bytes; i += 512) {
    if (block[i] != value) damaged = true;
  }
}

std::uint64_t work(int thread) {
  std::uint64_t sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t bytes = std::size_t{1} << (6 + (round * 7 + thread) % 14);
    const char value = static_cast<char>(1 + (round + thread) % 100);
    auto* block = static_cast<char*>(std::malloc(bytes));
    auto* zeros = static_cast<char*>(std::calloc(1, bytes));
    std::memset(block, value, bytes);
    check(zeros, bytes, 0);
    check(block, bytes, value);
    sum += bytes * static_cast<std::size_t>(value);
    std::free(handed_on.exchange(block));
    std::free(zeros);
  }
  return sum;
}

}  // namespace

int main() {
  std::puts("started");
  std::fflush(stdout);
  std::vector<std::uint64_t> sums(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&sums, i] { sums[static_cast<std::size_t>(i)] = work(i); });
  for (std::thread& thread : threads) thread.join();
  std::free(handed_on.load());
  std::uint64_t sum = 0;
  for (const std::uint64_t each : sums) sum = sum * 31 + each;
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
  return damaged ? 1 : 0;
}
