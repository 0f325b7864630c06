#include "record/preload/live_heap.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace zerotax::record {
namespace {

TEST(LiveHeap, KeepsTheMostThatWasLiveAtOnce) {
  LiveHeap heap;
  std::atomic<std::uint64_t> peak{0};
  heap.enter(100, peak);
  heap.enter(50, peak);
  heap.leave(100);
  heap.enter(20, peak);
  EXPECT_EQ(heap.bytes(), 70U);
  EXPECT_EQ(peak, 150U);
}

TEST(LiveHeap, IsNeverBelowZero) {
  LiveHeap heap;
  std::atomic<std::uint64_t> peak{0};
  heap.enter(10, peak);
  heap.leave(4096);
  EXPECT_EQ(heap.bytes(), 0U);
  heap.enter(30, peak);
  EXPECT_EQ(heap.bytes(), 30U);
  EXPECT_EQ(peak, 30U);
}

TEST(LiveHeap, LosesNothingBetweenThreads) {
  LiveHeap heap;
  std::atomic<std::uint64_t> peak{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t bytes = 1; bytes < 20'000; ++bytes) {
        heap.enter(bytes, peak);
        if (bytes % 2 == 0) heap.leave(bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heap.bytes(), 4U * 10'000 * 10'000);
  EXPECT_GE(peak, heap.bytes());
  EXPECT_LE(peak, heap.bytes() + std::uint64_t{4} * 20'000);
}

}  // namespace
}  // namespace zerotax::record
