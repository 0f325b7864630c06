#include "prove/reducer.h"

#include <gtest/gtest.h>

#include <algorithm>

// Fields of an operation that a test does not name are 0.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace zerotax::prove {
namespace {

constexpr std::uint32_t kMallocRow = 0;
constexpr std::uint32_t kCallocRow = 1;

Op call(std::uint32_t id, std::uint64_t bytes, std::uint32_t row = kMallocRow) {
  return {.kind = kOpCall, .fill = kFillAll, .id = id, .row = row, .n = bytes, .m = row == kCallocRow ? 1U : 0U};
}

Op free_of(std::uint32_t id, std::uint32_t block, std::uint8_t thread = 0) {
  return {.kind = kOpFree, .thread = thread, .id = id, .block = block};
}

/// Pairs of malloc and free, with a free of a block of 5,000 bytes and a later calloc of that size between them.
Ops long_sequence() {
  Ops ops;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const bool is_special = i == 600;
    ops.push_back(call(2 * i + 1, is_special ? 5000 : 64 + i % 7));
    ops.push_back(free_of(2 * i + 2, 2 * i + 1, is_special ? 2 : 0));
    if (i == 700) ops.push_back(call(9000, 5000, kCallocRow));
  }
  return ops;
}

/// The synthetic mistake: a calloc of at least 4,096 bytes after the free of a written block of the same size.
bool shows_dirty_calloc(const Ops& ops) {
  std::uint64_t dirty = 0;
  for (const Op& op : ops) {
    if (op.kind == kOpCall && op.row == kCallocRow && op.n * op.m >= 4096 && op.n * op.m == dirty) return true;
    if (op.kind != kOpFree) continue;
    const auto made = std::find_if(ops.begin(), ops.end(),
                                   [&](const Op& each) { return each.kind == kOpCall && each.id == op.block; });
    if (made != ops.end() && made->fill != kFillNone) dirty = std::max(dirty, made->n);
  }
  return false;
}

TEST(Reducer, KeepsOnlyTheOperationsOfTheFinding) {
  const Reduction reduction = reduce(long_sequence(), shows_dirty_calloc, [] { return false; });
  ASSERT_EQ(reduction.ops.size(), 3U);
  EXPECT_EQ(reduction.before, 2001U);
  EXPECT_LT(reduction.tries, 300U);
  EXPECT_EQ(reduction.ops[0].n, 4096U) << "sizes become powers of two";
  EXPECT_EQ(reduction.ops[1].thread, 0U) << "the thread does not matter";
  EXPECT_EQ(reduction.ops[2].fill, kFillNone) << "nothing reads the calloc's block";
  EXPECT_TRUE(shows_dirty_calloc(reduction.ops));
}

TEST(Reducer, StopsWhenTheTimeIsOverWithASequenceThatStillShowsTheFinding) {
  int tries = 0;
  const auto shows = [&](const Ops& ops) {
    ++tries;
    return shows_dirty_calloc(ops);
  };
  const Reduction reduction = reduce(long_sequence(), shows, [&] { return tries >= 2; });
  EXPECT_LE(tries, 2);
  EXPECT_TRUE(shows_dirty_calloc(reduction.ops));
}

TEST(Reducer, KeepsAThreadThatMatters) {
  Ops ops{{.kind = kOpStart, .id = 1, .n = 2}, call(2, 100), free_of(3, 2, 2), {.kind = kOpEnd, .id = 4, .n = 2}};
  const auto shows = [](const Ops& some) {
    const auto is = [&](std::uint8_t kind, std::uint8_t thread) {
      return std::any_of(some.begin(), some.end(),
                         [&](const Op& op) { return op.kind == kind && op.thread == thread; });
    };
    return is(kOpStart, 0) && is(kOpFree, 2) && is(kOpCall, 0);
  };
  const Reduction reduction = reduce(ops, shows, [] { return false; });
  EXPECT_EQ(reduction.ops.size(), 3U);
}

}  // namespace
}  // namespace zerotax::prove
