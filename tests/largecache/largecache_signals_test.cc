#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction and timers are POSIX's
#include <sys/time.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "largecache/in_use_table.h"
#include "largecache/lock.h"
#include "largecache_testing.h"

namespace zerotax::largecache {
namespace {

TEST(LockAndSignals, KnowsAtEveryMomentWhichThreadHasIt) {
  Lock lock;
  EXPECT_FALSE(lock.is_interrupted());
  {
    const std::lock_guard<Lock> guard(lock);
    EXPECT_TRUE(lock.is_interrupted());
    bool elsewhere = true;
    std::thread([&] { elsewhere = lock.is_interrupted(); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(lock.is_interrupted());
}

TEST(LockAndSignals, LetsTheThreadInsideForkInAndKeepsOthersOut) {
  Lock lock;
  lock.prepare_fork();
  EXPECT_FALSE(lock.is_interrupted()) << "what the lock protects is whole";
  {
    const std::lock_guard<Lock> guard(lock);
    EXPECT_TRUE(lock.is_interrupted());
    lock.prepare_fork();
    lock.after_fork();
    EXPECT_TRUE(lock.is_interrupted());
  }
  EXPECT_FALSE(lock.is_interrupted());
  std::atomic<bool> entered{false};
  std::thread other([&] {
    const std::lock_guard<Lock> guard(lock);
    entered = true;
  });
  EXPECT_FALSE(entered);
  lock.after_fork();
  other.join();
  EXPECT_TRUE(entered);
}

TEST(LockAndSignals, IsHadByOneThreadAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 50'000;
  Lock lock;
  long count = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const std::lock_guard<Lock> guard(lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, long{kThreads} * kTurns);
}

const InUseTable* looked_at = nullptr;
std::vector<Block> staying;
volatile long looks = 0;
volatile long wrong = 0;

void look(int /*signal*/) {
  for (const Block& block : staying) {
    if (!(looked_at->peek(block.address) == block)) wrong = wrong + 1;
  }
  looks = looks + 1;
}

// Blocks that stay in the table while others are added to and removed from the same run of slots, and while the table
// grows.
TEST(InUseTableAndSignals, ShowsASignalHandlerEveryBlockWhateverItInterrupts) {
  constexpr std::uintptr_t kHome = 10;
  constexpr long kLooks = 3000;
  InUseTable sizing;
  ASSERT_TRUE(sizing.reserve());
  const std::uintptr_t slots = sizing.capacity();
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = look;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  const itimerval often{{0, 20}, {0, 20}};
  setitimer(ITIMER_REAL, &often, nullptr);
  while (looks < kLooks && wrong == 0) {
    pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
    InUseTable table;
    staying.clear();
    looked_at = &table;
    for (std::uintptr_t i = 1; i <= 12; ++i) {
      const std::uintptr_t address = (kHome + i / 4 + i * slots) * kPage;
      ASSERT_TRUE(table.reserve());
      Block block{.address = address, .size = i * kPage};
      block.asked = i;
      table.insert(block);
      if (i % 2 == 0) staying.push_back(block);
    }
    pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
    for (int turn = 0; turn < 200; ++turn) {
      for (std::uintptr_t i = 1; i <= 12; i += 2) table.remove((kHome + i / 4 + i * slots) * kPage);
      for (std::uintptr_t i = 1; i <= 12; i += 2) table.insert({(kHome + i / 4 + i * slots) * kPage, i * kPage});
    }
    for (std::uintptr_t i = 0; i < 2 * slots; ++i) {
      ASSERT_TRUE(table.reserve());
      table.insert({(100 * slots + i) * kPage, kPage});
    }
    pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
    looked_at = nullptr;
    staying.clear();
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);  // if a signal is pending, its handler finds no block
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace zerotax::largecache
