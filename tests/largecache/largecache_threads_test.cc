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

// Sizes of requests, from `least` to less than `most` bytes.
struct Sizes {
  std::size_t least;
  std::size_t most;
};

// A thread with blocks of its own. Each page of these blocks contains a word that only this thread writes.
class Owner {
 public:
  Owner(LargeHeap& heap, const Sizes& sizes, std::uint64_t name)
      : heap_(heap), sizes_(sizes), name_(name), random_(name) {}
  ~Owner() {
    while (!blocks_.empty()) free_one();
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  void step() {
    const std::size_t what = random_() % 8;
    if (blocks_.size() < 2 || (blocks_.size() < 6 && what < 4)) {
      allocate_one(what % 2 == 0);
    } else if (what == 7) {
      reallocate_one();
    } else {
      free_one();
    }
  }

  /// Returns the number of wrong words found.
  [[nodiscard]] int wrong() const { return wrong_; }

 private:
  struct Block {
    char* start;
    std::size_t size;
    std::uint64_t tag;
  };

  std::size_t random_size() { return sizes_.least + random_() % (sizes_.most - sizes_.least); }

  void allocate_one(bool zero) {
    const std::size_t size = random_size();
    Block block{static_cast<char*>(zero ? calloc(heap_, 1, size) : malloc(heap_, size)), size, 0};
    if (block.start == nullptr) {
      ++wrong_;
      return;
    }
    if (zero) check(block);
    write_tags(block);
    blocks_.push_back(block);
  }

  void free_one() {
    const Block block = take_one();
    check(block);
    free(heap_, block.start);
  }

  void reallocate_one() {
    Block block = take_one();
    const std::size_t size = random_size();
    block.start = static_cast<char*>(realloc(heap_, block.start, size));
    block.size = std::min(block.size, size);
    check(block);
    block.size = size;
    write_tags(block);
    blocks_.push_back(block);
  }

  Block take_one() {
    std::swap(blocks_[random_() % blocks_.size()], blocks_.back());
    const Block block = blocks_.back();
    blocks_.pop_back();
    return block;
  }

  void write_tags(Block& block) {
    block.tag = name_ << 32 | ++written_;
    for (std::size_t at = 0; at + 8 <= block.size; at += 4096) std::memcpy(block.start + at, &block.tag, 8);
  }

  void check(const Block& block) {
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

// Runs `steps` steps in each of `thread_count` threads. Returns the number of wrong words in all blocks.
int hammer(LargeHeap& heap, const Sizes& sizes, int steps, std::uint64_t thread_count = 8) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint64_t name = 1; name <= thread_count; ++name) {
    threads.emplace_back([&, name] {
      Owner owner(heap, sizes, name);
      for (int step = 0; step < steps; ++step) owner.step();
      wrong += owner.wrong();
    });
  }
  for (std::thread& thread : threads) thread.join();
  // All blocks are freed, so each mapping is cached or gone. If two threads had updated a counter at once, the sums
  // would differ.
  const auto statistics = statistics_of(heap);
  EXPECT_EQ(statistics.misses + statistics.tails, statistics.entries + statistics.evictions + statistics.unmapped);
  EXPECT_EQ(statistics.in_use_bytes, 0U);
  return wrong;
}

TEST(Threads, EightNeverShareABlockNorSeeBytesOfAnother) {
  // The small reserve makes the heap cache both dirty and madvised blocks.
  LargeHeap heap(with_reserve(kMiB));
  EXPECT_EQ(hammer(heap, {100 * kKiB, 500 * kKiB}, 1500), 0);  // a few blocks are small
  const auto statistics = statistics_of(heap);
  EXPECT_GT(statistics.hits, 1000U);
  EXPECT_GT(statistics.madvised, 100U);
  EXPECT_GT(statistics.evictions, 0U);
  EXPECT_GE(statistics.cached_bytes, statistics.reserve_bytes);
  EXPECT_LE(statistics.entries, 16U);
}

// The blocks are so short that the threads spend their time in the heap rather than in writing to blocks.
TEST(Threads, EightMeetInsideTheHeapAndComeOutWhole) {
  Settings settings = with_reserve(kUnlimited);
  settings.threshold = 4096;
  settings.entries = Ring::kMaxEntries;
  LargeHeap heap(settings);
  EXPECT_EQ(hammer(heap, {5000, 17'000}, 60'000), 0);
  const auto statistics = statistics_of(heap);
  EXPECT_GT(statistics.hits, 10'000U);
  EXPECT_EQ(statistics.reserve_bytes, statistics.cached_bytes);
}

// One thread cuts off a part of its block, and another thread gets this part, sometimes while the last entry is taken.
TEST(Threads, ShareTheTailsOfTheirBlocksAndNothingElse) {
  Settings settings = settings_of("xzone-792");
  settings.threshold = 512 * kKiB;
  settings.entries = 6;
  LargeHeap heap(settings);
  EXPECT_EQ(hammer(heap, {400 * kKiB, 14 * kMiB}, 250, 4), 0);
  const auto statistics = statistics_of(heap);
  EXPECT_GT(statistics.tails, 5U);
  EXPECT_GT(statistics.hits, 50U);
  EXPECT_GT(statistics.evictions, 0U);
  heap.decay(true);
}

TEST(Threads, HandABlockToEachOtherWhole) {
  LargeHeap heap(with_reserve(kUnlimited));
  std::atomic<char*> handed{nullptr};
  constexpr int kRounds = 100;
  std::thread taker([&] {
    for (int round = 0; round < kRounds; ++round) {
      char* block = nullptr;
      while ((block = handed.exchange(nullptr)) == nullptr) std::this_thread::yield();
      EXPECT_TRUE(all_bytes(block, 4096, static_cast<unsigned char>(round)));
      free(heap, block);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    char* const block = static_cast<char*>(calloc(heap, 1, kMiB));
    EXPECT_TRUE(all_bytes(block, kMiB, 0));
    std::memset(block, round, kMiB);
    while (handed.load() != nullptr) std::this_thread::yield();
    handed = block;
  }
  taker.join();
}

// Time for which this thread sleeps while another thread tries to proceed. With a correct lock, the other thread never
// proceeds.
constexpr auto kAWhile = std::chrono::milliseconds(50);

TEST(Lock, WaitsForItsHolderBeforeAFork) {
  Lock lock;
  std::atomic<bool> prepared{false};
  lock.lock();
  std::thread forking([&] {
    lock.prepare_fork();
    prepared = true;
    lock.after_fork();
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
  lock.prepare_fork();
  lock.lock();
  lock.unlock();
  std::thread other([&] {
    const std::lock_guard<Lock> guard(lock);
    entered = true;
  });
  std::this_thread::sleep_for(kAWhile);
  EXPECT_FALSE(entered);
  lock.after_fork();
  other.join();
  EXPECT_TRUE(entered);
}

// Imitates a library that registered fork handlers before ours and allocates in them. Its prepare handler runs after
// ours, while our lock is held.
void allocate_in_handler() { free(process_heap, calloc(process_heap, 1, 200 * kKiB)); }

void install_once() {
  static const bool installed = [] {
    pthread_atfork(&allocate_in_handler, &allocate_in_handler, &allocate_in_handler);
    install_fork_handlers();
    return true;
  }();
  static_cast<void>(installed);
}

// Runs `body` in a child and returns the child's exit status. `body` returns whether all went well.
template <typename Body>
int status_of_child(const Body& body) {
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
  install_once();
  LargeHeap& heap = process_heap;
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t name = 1; name <= 4; ++name) {
    threads.emplace_back([&, name] {
      Owner owner(heap, {100 * kKiB, 500 * kKiB}, name);
      while (!stop) owner.step();
      wrong += owner.wrong();
    });
  }
  for (int round = 0; round < 40; ++round) {
    ASSERT_EQ(status_of_child([&heap] {
                // Uses no container, because the small allocator's locks are not under test.
                for (int i = 0; i < 20; ++i) {
                  void* const block = calloc(heap, 1, (150 + 10 * static_cast<std::size_t>(i)) * kKiB);
                  if (block == nullptr || !all_bytes(block, 150 * kKiB, 0)) return false;
                  std::memset(block, 0xab, 150 * kKiB);
                  free(heap, block);
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
  install_once();
  LargeHeap& heap = process_heap;
  free(heap, malloc(heap, 200 * kKiB));  // memory that the handlers allocate and free
  void* const block = malloc(heap, 5 * kMiB);
  std::memset(block, 0xab, 5 * kMiB);
  free(heap, block);
  const auto before = statistics_of(heap);
  EXPECT_EQ(status_of_child([&] {
              const auto now = statistics_of(heap);
              return now.entries == before.entries && now.cached_bytes == before.cached_bytes &&
                     malloc(heap, 5 * kMiB) == block && all_bytes(block, 5 * kMiB, 0xab);
            }),
            0);
  EXPECT_EQ(statistics_of(heap).entries, before.entries);
  EXPECT_EQ(statistics_of(heap).cached_bytes, before.cached_bytes);
  EXPECT_EQ(malloc(heap, 5 * kMiB), block);
  free(heap, block);
}

}  // namespace
}  // namespace zerotax::largecache
