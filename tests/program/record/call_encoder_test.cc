#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "calls_testing.h"
#include "record/calls/encoder.h"
#include "small_pages.h"

namespace zerotax::record {
namespace {

RawCall raw(RawKind kind, std::uint64_t address, std::uint64_t bytes = 0, std::uint64_t ticket = 0) {
  return {ticket, kind, 0, {}, 0, address, bytes};
}

std::string events_of(const std::vector<RawCall>& calls) {
  CallEncoder encoder;
  for (const RawCall& call : calls) encoder.add(0, call);
  encoder.finish();
  return encoder.events();
}

TEST(CallEncoder, BlocksHaveNumbersInPlaceOfAddresses) {
  EXPECT_EQ(events_of({raw(RawKind::kMalloc, 0x1000, 5), raw(RawKind::kCalloc, 0x2000, 70), raw(RawKind::kFree, 0x1000),
                       raw(RawKind::kMalloc, 0x1000, 6), raw(RawKind::kFree, 0x1000), raw(RawKind::kFree, 0x2000)}),
            Events()
                .add(EventKind::kMalloc, 5)
                .add(EventKind::kCalloc, 70)
                .add(EventKind::kFree, 1)
                .add(EventKind::kMalloc, 6)
                .add(EventKind::kFree, 0)
                .add(EventKind::kFree, 1)
                .text);
}

TEST(CallEncoder, TheTimeFromTheLastCallToTheEndIsRecordedInTheFirstThread) {
  CallEncoder encoder;
  encoder.add(1, raw(RawKind::kMalloc, 0x1000, 5));
  encoder.finish(5000);
  EXPECT_EQ(encoder.events(), Events()
                                  .add(EventKind::kThread, 1)
                                  .add(EventKind::kMalloc, 5)
                                  .add(EventKind::kThread, 0)
                                  .add(EventKind::kTime, 5000)
                                  .text);
}

TEST(CallEncoder, AFreeOfAnUnknownBlockIsCountedAndLeftOut) {
  CallEncoder encoder;
  encoder.add(0, raw(RawKind::kFree, 0x1000));
  EXPECT_EQ(encoder.events(), "");
  EXPECT_EQ(encoder.counts().unknown, 1U);
}

TEST(CallEncoder, ReallocEndsItsBlockUnlessItFails) {
  EXPECT_EQ(
      events_of({raw(RawKind::kMalloc, 0x1000, 5), raw(RawKind::kGrowing, 0x1000), raw(RawKind::kGrown, 0x3000, 50),
                 raw(RawKind::kGrowing, 0x3000), raw(RawKind::kGrown, 0, 60), raw(RawKind::kFree, 0x3000)}),
      Events().add(EventKind::kMalloc, 5).add(EventKind::kRealloc, 1, {50}).add(EventKind::kFree, 0).text);
  EXPECT_EQ(events_of({raw(RawKind::kMalloc, 0x1000, 5), raw(RawKind::kGrowing, 0x1000), raw(RawKind::kGrown, 0, 0)}),
            Events().add(EventKind::kMalloc, 5).add(EventKind::kFree, 0).text)
      << "realloc with size 0 frees";
  EXPECT_EQ(events_of({raw(RawKind::kGrown, 0x1000, 9)}), Events().add(EventKind::kRealloc, 0, {9}).text);
}

TEST(CallEncoder, RangesOfPagesStandBeforeTheEndOfTheirBlock) {
  const std::uint64_t pages = std::uint64_t{1} << 32;
  EXPECT_EQ(events_of({raw(RawKind::kMalloc, 0x1000, 1 << 20), raw(RawKind::kTouched, 0x1000),
                       raw(RawKind::kTouched, 0x1000, 9 | 2 * pages), raw(RawKind::kTouched, 0x1000, 0 | 3 * pages),
                       raw(RawKind::kTouched, 0x1000, 3 | pages), raw(RawKind::kFree, 0x1000)}),
            Events()
                .add(EventKind::kMalloc, 1 << 20)
                .add(EventKind::kTouched, 0, {2, 0, 4, 5, 2})
                .add(EventKind::kFree, 0)
                .text);
}

TEST(CallEncoder, PartsOfAMappingAreReturnedAndTheLastOneEndsIt) {
  ONLY_WITH_SMALL_PAGES();
  const std::uint64_t base = 0x10000;
  const std::uint64_t page = 4096;
  EXPECT_EQ(
      events_of({raw(RawKind::kMapped, base, 8 * page), raw(RawKind::kPopulated, base + page, 2 * page),
                 raw(RawKind::kReturned, base + page, page), raw(RawKind::kUnmapped, base + 2 * page, page),
                 raw(RawKind::kPopulated, base - page, 4 * page), raw(RawKind::kUnmapped, base - page, 20 * page)}),
      Events()
          .add(EventKind::kMap, 8 * page)
          .add(EventKind::kTouched, 0, {1, 1, 2})
          .add(EventKind::kReturn, 0, {1, 1})
          .add(EventKind::kReturn, 0, {2, 1})
          .add(EventKind::kTouched, 0, {1, 0, 2})
          .add(EventKind::kReturn, 0, {0, 2})
          .add(EventKind::kUnmap, 0)
          .text);
}

TEST(CallEncoder, AChildBeginsWithWhatItsParentHadAtTheFork) {
  CallEncoder parent;
  parent.add(0, raw(RawKind::kMalloc, 0x1000, 5));
  parent.add(0, raw(RawKind::kFork, 0, 0, 17));
  parent.add(0, raw(RawKind::kFree, 0x1000));
  EXPECT_FALSE(parent.take_child(18).has_value());
  auto child = parent.take_child(17);
  ASSERT_TRUE(child.has_value());
  child->add(0, raw(RawKind::kFree, 0x1000));
  EXPECT_EQ(child->events(), Events().add(EventKind::kFree, 0).text);
  EXPECT_EQ(parent.fork_number(17), 0U);
}

TEST(CallEncoder, ThreadsAndTheTimeAreSaidWhereTheyChange) {
  CallEncoder encoder;
  encoder.add(0, raw(RawKind::kMalloc, 0x1000, 1));
  encoder.add(3, raw(RawKind::kMalloc, 0x2000, 1));
  RawCall late = raw(RawKind::kFree, 0x2000);
  late.time = 3;
  encoder.add(3, late);
  // This call has a later ticket than the previous call, but an earlier time.
  late = raw(RawKind::kMalloc, 0x2000, 1);
  late.time = 2;
  encoder.add(0, late);
  late = raw(RawKind::kFree, 0x2000);
  late.time = 4;
  encoder.add(0, late);
  encoder.add(3, raw(RawKind::kEnd, 0));
  EXPECT_EQ(encoder.events(), Events()
                                  .add(EventKind::kMalloc, 1)
                                  .add(EventKind::kThread, 3)
                                  .add(EventKind::kMalloc, 1)
                                  .add(EventKind::kTime, 3)
                                  .add(EventKind::kFree, 0)
                                  .add(EventKind::kThread, 0)
                                  .add(EventKind::kMalloc, 1)
                                  .add(EventKind::kTime, 1)
                                  .add(EventKind::kFree, 0)
                                  .add(EventKind::kThread, 3)
                                  .add(EventKind::kEnd, 0)
                                  .text);
}

TEST(AddressMap, HoldsWhatAMapHolds) {
  AddressMap map;
  std::unordered_map<std::uint64_t, std::uint64_t> truth;
  std::mt19937_64 random(7);
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const std::uint64_t address = 16 * (1 + random() % 3000);
    const auto found = map.find(address);
    ASSERT_EQ(found.has_value(), truth.contains(address));
    if (!found) {
      map.insert(address, i);
      truth[address] = i;
    } else {
      ASSERT_EQ(*found, truth[address]);
      ASSERT_EQ(map.take(address), found);
      truth.erase(address);
    }
  }
}

TEST(SharedArray, CopiesDoNotSeeEachOther) {
  std::mt19937_64 random(3);
  std::vector<SharedArray<int>> arrays(1);
  std::vector<std::unordered_map<std::size_t, int>> truths(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t which = random() % arrays.size();
    const std::size_t index = random() >> (random() % 2 == 0 ? 1 : 54);
    ASSERT_EQ(arrays[which].at(index), truths[which].contains(index) ? truths[which][index] : 0);
    arrays[which].edit(index) = truths[which][index] = i;
    if (arrays.size() < 40 && random() % 100 == 0) {
      arrays.push_back(arrays[which]);
      truths.push_back(truths[which]);
    }
  }
  for (std::size_t which = 0; which < arrays.size(); ++which) {
    for (const auto& [index, value] : truths[which]) ASSERT_EQ(arrays[which].at(index), value);
  }
}

TEST(SharedArray, ACopyTakesMemoryForWhatIsWrittenAfterIt) {
  const std::size_t before = shared_array_bytes;
  {
    SharedArray<std::uint64_t> array;
    for (std::size_t i = 0; i < 100'000; ++i) array.edit(i) = i;
    const std::size_t once = shared_array_bytes - before;
    const std::vector<SharedArray<std::uint64_t>> copies(100, array);
    EXPECT_EQ(shared_array_bytes - before, once);
    array.edit(5) = 6;
    EXPECT_LT(shared_array_bytes - before, once + 8192);
    EXPECT_EQ(copies[99].at(5), 5U);
  }
  EXPECT_EQ(shared_array_bytes, before);
}

TEST(CallEncoder, ForksShareTheBlocksOfTheirParent) {
  const std::size_t before = shared_array_bytes;
  constexpr std::uint64_t kBlocks = 100'000;
  CallEncoder parent;
  for (std::uint64_t i = 1; i <= kBlocks; ++i) parent.add(0, raw(RawKind::kMalloc, i << 5, 24));
  const std::size_t once = shared_array_bytes - before;
  for (std::uint64_t fork = 1; fork <= 200; ++fork) {
    parent.add(0, raw(RawKind::kFork, 0, 0, fork));
    parent.add(0, raw(RawKind::kFree, fork << 5));
  }
  EXPECT_LT(shared_array_bytes - before, 3 * once);
  auto child = parent.take_child(100);
  ASSERT_TRUE(child.has_value());
  child->add(0, raw(RawKind::kFree, 99 << 5));
  EXPECT_EQ(child->counts().unknown, 1U) << "the block was freed before the fork";
  child->add(0, raw(RawKind::kFree, 100 << 5));
  EXPECT_EQ(child->counts().frees, 1U) << "the block was freed after the fork";
}

}  // namespace
}  // namespace zerotax::record
