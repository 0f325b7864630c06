#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "largecache/family.h"
#include "largecache/lock.h"
#include "largecache/process.h"
#include "largecache_testing.h"

namespace zerotax::largecache {
namespace {

// Requests are of `least` bytes or more, and of fewer than `most`.
struct Sizes {
  std::size_t least;
  std::size_t most;
};

// A thread with blocks of its own, in each of whose pages it has written a word that nobody else writes.
class Owner {
 public:
  Owner(LargeHeap& heap, const Sizes& sizes, std::uint64_t name)
      : heap_(heap), sizes_(sizes), name_(name), random_(name) {}
  ~Owner() {
    while (!blocks_.empty()) FreeOne();
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  void Step() {
    const std::size_t what = random_() % 8;
    if (blocks_.size() < 2 || (blocks_.size() < 6 && what < 4)) {
      AllocateOne(what % 2 == 0);
    } else if (what == 7) {
      ReallocateOne();
    } else {
      FreeOne();
    }
  }

  /// Words found that were not as they had to be.
  [[nodiscard]] int wrong() const { return wrong_; }

 private:
  struct Block {
    char* start;
    std::size_t size;
    std::uint64_t tag;
  };

  std::size_t RandomSize() { return sizes_.least + random_() % (sizes_.most - sizes_.least); }

  void AllocateOne(bool zero) {
    const std::size_t size = RandomSize();
    Block block{static_cast<char*>(zero ? Calloc(heap_, 1, size) : Malloc(heap_, size)), size, 0};
    if (block.start == nullptr) {
      ++wrong_;
      return;
    }
    if (zero) Check(block);
    Write(block);
    blocks_.push_back(block);
  }

  void FreeOne() {
    const Block block = TakeOne();
    Check(block);
    Free(heap_, block.start);
  }

  void ReallocateOne() {
    Block block = TakeOne();
    const std::size_t size = RandomSize();
    block.start = static_cast<char*>(Realloc(heap_, block.start, size));
    block.size = std::min(block.size, size);
    Check(block);
    block.size = size;
    Write(block);
    blocks_.push_back(block);
  }

  Block TakeOne() {
    std::swap(blocks_[random_() % blocks_.size()], blocks_.back());
    const Block block = blocks_.back();
    blocks_.pop_back();
    return block;
  }

  void Write(Block& block) {
    block.tag = name_ << 32 | ++written_;
    for (std::size_t at = 0; at + 8 <= block.size; at += 4096) std::memcpy(block.start + at, &block.tag, 8);
  }

  void Check(const Block& block) {
    for (std::size_t at = 0; at + 8 <= block.size; at += 4096) {
      std::uint64_t found = 0;
      std::memcpy(&found, block.start + at, 8);
      if (found != block.tag) ++wrong_;
    }
  }

  LargeHeap& heap_;
  Sizes sizes_;
  std::uint64_t name_;
  std::mt19937_64 random_;
  std::vector<Block> blocks_;
  std::uint64_t written_ = 0;
  int wrong_ = 0;
};

// Runs `steps` in each of some threads; returns how many words were not as they had to be.
int Hammer(LargeHeap& heap, const Sizes& sizes, int steps, std::uint64_t thread_count = 8) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint64_t name = 1; name <= thread_count; ++name) {
    threads.emplace_back([&, name] {
      Owner owner(heap, sizes, name);
      for (int step = 0; step < steps; ++step) owner.Step();
      wrong += owner.wrong();
    });
  }
  for (std::thread& thread : threads) thread.join();
  // All is freed, so each mapping is cached or gone. A count that two threads made at once would be missing.
  const auto statistics = Statistics(heap);
  EXPECT_EQ(statistics.misses + statistics.tails, statistics.entries + statistics.evictions + statistics.unmapped);
  EXPECT_EQ(statistics.in_use_bytes, 0U);
  return wrong;
}

TEST(Threads, EightNeverShareABlockNorSeeBytesOfAnother) {
  // A small reserve, so that blocks are cached both dirty and madvised.
  LargeHeap heap(WithReserve(kMiB));
  EXPECT_EQ(Hammer(heap, {100 * kKiB, 500 * kKiB}, 1500), 0);  // a few small ones among them
  const auto statistics = Statistics(heap);
  EXPECT_GT(statistics.hits, 1000U);
  EXPECT_GT(statistics.madvised, 100U);
  EXPECT_GT(statistics.evictions, 0U);
  EXPECT_GE(statistics.cached_bytes, statistics.reserve_bytes);
  EXPECT_LE(statistics.entries, 16U);
}

// Blocks so short that the threads spend their time in the heap rather than in the blocks.
TEST(Threads, EightMeetInsideTheHeapAndComeOutWhole) {
  Settings settings = WithReserve(kUnlimited);
  settings.threshold = 4096;
  settings.entries = Ring::kMaxEntries;
  LargeHeap heap(settings);
  EXPECT_EQ(Hammer(heap, {5000, 17'000}, 60'000), 0);
  const auto statistics = Statistics(heap);
  EXPECT_GT(statistics.hits, 10'000U);
  EXPECT_EQ(statistics.reserve_bytes, statistics.cached_bytes);
}

// What one thread cuts off its block is given to another, at times while the last entry is taken.
TEST(Threads, ShareTheTailsOfTheirBlocksAndNothingElse) {
  Settings settings = SettingsOf("xzone-792");
  settings.threshold = 512 * kKiB;
  settings.entries = 6;
  LargeHeap heap(settings);
  EXPECT_EQ(Hammer(heap, {400 * kKiB, 14 * kMiB}, 250, 4), 0);
  const auto statistics = Statistics(heap);
  EXPECT_GT(statistics.tails, 5U);
  EXPECT_GT(statistics.hits, 50U);
  EXPECT_GT(statistics.evictions, 0U);
  heap.Decay(true);
}

TEST(Threads, HandABlockToEachOtherWhole) {
  LargeHeap heap(WithReserve(kUnlimited));
  std::atomic<char*> handed{nullptr};
  constexpr int kRounds = 100;
  std::thread taker([&] {
    for (int round = 0; round < kRounds; ++round) {
      char* block = nullptr;
      while ((block = handed.exchange(nullptr)) == nullptr) std::this_thread::yield();
      EXPECT_TRUE(AllBytes(block, 4096, static_cast<unsigned char>(round)));
      Free(heap, block);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    char* const block = static_cast<char*>(Calloc(heap, 1, kMiB));
    EXPECT_TRUE(AllBytes(block, kMiB, 0));
    std::memset(block, round, kMiB);
    while (handed.load() != nullptr) std::this_thread::yield();
    handed = block;
  }
  taker.join();
}

// What another thread gets done while this one sleeps a little; a correct lock never lets it, however long.
constexpr auto kAWhile = std::chrono::milliseconds(50);

TEST(Lock, WaitsForItsHolderBeforeAFork) {
  Lock lock;
  std::atomic<bool> prepared{false};
  lock.lock();
  std::thread forking([&] {
    lock.PrepareFork();
    prepared = true;
    lock.ParentAfterFork();
  });
  std::this_thread::sleep_for(kAWhile);
  EXPECT_FALSE(prepared);
  lock.unlock();
  forking.join();
  EXPECT_TRUE(prepared);
}

TEST(Lock, KeepsAllThreadsOutDuringAForkButTheOneThatForks) {
  Lock lock;
  std::atomic<bool> entered{false};
  lock.PrepareFork();
  lock.lock();
  lock.unlock();
  std::thread other([&] {
    const std::lock_guard<Lock> guard(lock);
    entered = true;
  });
  std::this_thread::sleep_for(kAWhile);
  EXPECT_FALSE(entered);
  lock.ParentAfterFork();
  other.join();
  EXPECT_TRUE(entered);
}

// A library that registered fork handlers before ours did, and allocates in them: in prepare it comes after
// ours, with our lock taken.
void AllocateInHandler() { Free(ProcessHeap(), Calloc(ProcessHeap(), 1, 200 * kKiB)); }

void InstallOnce() {
  static const bool installed = [] {
    pthread_atfork(&AllocateInHandler, &AllocateInHandler, &AllocateInHandler);
    InstallForkHandlers();
    return true;
  }();
  static_cast<void>(installed);
}

// Exit status of a child that runs `body`, which returns whether all went well.
template <typename Body>
int StatusOfChild(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a deadlock ends the child, not the test run
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Fork, WorksWhileOtherThreadsAllocate) {
  InstallOnce();
  LargeHeap& heap = ProcessHeap();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t name = 1; name <= 4; ++name) {
    threads.emplace_back([&, name] {
      Owner owner(heap, {100 * kKiB, 500 * kKiB}, name);
      while (!stop) owner.Step();
      wrong += owner.wrong();
    });
  }
  for (int round = 0; round < 40; ++round) {
    ASSERT_EQ(StatusOfChild([&heap] {
                // No container here: what the small allocator's locks are like is not our matter.
                for (int i = 0; i < 20; ++i) {
                  void* const block = Calloc(heap, 1, (150 + 10 * static_cast<std::size_t>(i)) * kKiB);
                  if (block == nullptr || !AllBytes(block, 150 * kKiB, 0)) return false;
                  std::memset(block, 0xab, 150 * kKiB);
                  Free(heap, block);
                }
                return true;
              }),
              0)
        << "round " << round;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Fork, LeavesTheCacheAsItIsInParentAndChild) {
  InstallOnce();
  LargeHeap& heap = ProcessHeap();
  Free(heap, Malloc(heap, 200 * kKiB));  // what the handlers take and give back
  void* const block = Malloc(heap, 5 * kMiB);
  std::memset(block, 0xab, 5 * kMiB);
  Free(heap, block);
  const auto before = Statistics(heap);
  EXPECT_EQ(StatusOfChild([&] {
              const auto now = Statistics(heap);
              return now.entries == before.entries && now.cached_bytes == before.cached_bytes &&
                     Malloc(heap, 5 * kMiB) == block && AllBytes(block, 5 * kMiB, 0xab);
            }),
            0);
  EXPECT_EQ(Statistics(heap).entries, before.entries);
  EXPECT_EQ(Statistics(heap).cached_bytes, before.cached_bytes);
  EXPECT_EQ(Malloc(heap, 5 * kMiB), block);
  Free(heap, block);
}

}  // namespace
}  // namespace zerotax::largecache
