// Children that start by fork() while other threads allocate, by clone() without the C library's handlers, with shared
// descriptors, or with shared memory.
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "largecache_hard_testing.h"

namespace zerotax::largecache {
namespace {

constexpr std::size_t kForkSize = 256 * kKiB;

class HardFork : public testing::TestWithParam<Way> {};

LargeHeap* forking_heap = nullptr;

void install_handlers(LargeHeap& heap) {
  static const bool installed = pthread_atfork(
                                    [] {
                                      if (forking_heap != nullptr) forking_heap->prepare_fork();
                                    },
                                    [] {
                                      if (forking_heap != nullptr) forking_heap->parent_after_fork();
                                    },
                                    [] {
                                      if (forking_heap != nullptr) forking_heap->child_after_fork();
                                    }) == 0;
  EXPECT_TRUE(installed);
  forking_heap = &heap;
}

/// Allocates a block, which must be zero. Writes the byte `mine` to some pages, which depend on `round`, and frees the
/// block.
bool one_round(HardHeap& heap, std::size_t round, char mine) {
  char* const block = heap.calloc(kForkSize + round % 3 * kPage);
  if (block == nullptr || !is_zero(block, kForkSize + round % 3 * kPage)) return false;
  for (std::size_t at = round % 5 * kPage; at < kForkSize; at += (round % 7 + 1) * kPage)
    block[at + round % 4096] = mine;
  const bool kept = block[round % 5 * kPage + round % 4096] == mine;
  heap.deallocate(block);
  return kept;
}

bool rounds(HardHeap& heap, std::size_t count, char mine) {
  for (std::size_t round = 0; round < count; ++round) {
    if (!one_round(heap, round, mine)) return false;
  }
  return true;
}

// Each thread of the parent holds blocks, and writes its own byte into each page. A child must never get a block that
// belongs to a thread.
TEST_P(HardFork, InOneThreadWhileOthersAllocate) {
  HardHeap heap(GetParam());
  install_handlers(heap.heap());
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (char mine = 1; mine <= 3; ++mine) {
    threads.emplace_back([&, mine] {
      char* const held = heap.calloc(kForkSize);
      std::memset(held, mine, kForkSize);
      for (std::size_t round = 0; !stop; ++round) {
        if (!one_round(heap, round, mine)) ++wrong;
        if (!all_bytes(held, kForkSize, static_cast<unsigned char>(mine))) ++wrong;
      }
      heap.deallocate(held);
    });
  }
  for (int child = 0; child < 40; ++child) {
    EXPECT_EQ(status_of_child([&] { return rounds(heap, 30, 0x77) ? 0 : 1; }), 0) << "child " << child;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  forking_heap = nullptr;
}

// Forks like syscall(SYS_fork), so that no fork handler runs. `flags` are those of clone(2).
template <typename Body>
pid_t clone_raw(unsigned long flags, const Body& body) {
  const auto child = static_cast<pid_t>(syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    alarm(25);
    syscall(SYS_exit_group, body() ? 0 : 1);
  }
  return child;
}

int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Pages that are clean in the parent are dirty in the child, and vice versa. If the child's heap read the parent's
// pagemap, calloc would return the child's own bytes.
TEST_P(HardFork, PastTheHandlersBelievesNothingOfTheParents) {
  for (const unsigned long flags : {0UL, static_cast<unsigned long>(CLONE_FILES)}) {
    HardHeap heap(GetParam());
    for (std::size_t child = 0; child < 10; ++child) {
      char* const block = heap.block_with_past(kForkSize);
      block[child * kPage] = 1;
      heap.deallocate(block);
      EXPECT_EQ(status_of(clone_raw(flags,
                                    [&] {
                                      char* const mine = heap.calloc(kForkSize);
                                      if (!is_zero(mine, kForkSize)) return false;
                                      std::memset(mine + kForkSize / 2, 0x77, kForkSize / 2);
                                      heap.deallocate(mine);
                                      if (!rounds(heap, 20, 0x77)) return false;
                                      // A child of the child also reuses blocks.
                                      return status_of(clone_raw(flags, [&] { return rounds(heap, 20, 0x55); })) == 0;
                                    })),
                0)
          << "child " << child;
      EXPECT_TRUE(rounds(heap, 5, 0x33));
    }
  }
}

// Parent and child run at the same time, with one table of descriptors and separate memory. Each process opens its own
// pagemap, and may close it.
TEST_P(HardFork, WithSharedDescriptorsBelievesOnlyItsOwn) {
  HardHeap heap(GetParam());
  ASSERT_TRUE(rounds(heap, 5, 0x33));
  for (int child = 0; child < 5; ++child) {
    const pid_t other = clone_raw(CLONE_FILES, [&] {
      for (int round = 0; round < 20; ++round) {
        if (!rounds(heap, 20, 0x77)) return false;
        close_range(256, 400, 0);
      }
      return true;
    });
    for (int round = 0; round < 20; ++round) EXPECT_TRUE(rounds(heap, 20, 0x33));
    EXPECT_EQ(status_of(other), 0);
  }
}

// The child shares memory until it ends, so its blocks belong to the parent's heap.
TEST_P(HardFork, WithSharedMemoryIsLikeAThread) {
  HardHeap heap(GetParam());
  for (int child = 0; child < 10; ++child) {
    static char stack[256 * kKiB];
    static HardHeap* shared;
    shared = &heap;
    const auto body = [](void*) { return rounds(*shared, 20, 0x77) ? 0 : 1; };
    EXPECT_EQ(status_of(clone(body, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr)), 0);
    EXPECT_TRUE(rounds(heap, 20, 0x33));
  }
}

INSTANTIATE_TEST_SUITE_P(All, HardFork, testing::ValuesIn(kWays), [](const auto& all) { return name_of(all.param); });

}  // namespace
}  // namespace zerotax::largecache
