#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "base/size.h"
#include "judge/document.h"
#include "judge/search.h"
#include "point/point_document.h"
#include "thresholds/document.h"

namespace zerotax::thresholds {
namespace {

/// A synthetic allocator. The behavior at a size is the number of the largest key up to that size.
class Planted {
 public:
  explicit Planted(std::map<std::uint64_t, int> behaviour) : behaviour_(std::move(behaviour)) {}
  Signature operator()(std::uint64_t size) const {
    Signature signature;
    signature.status = "ok";
    signature.reuse.home = std::to_string(std::prev(behaviour_.upper_bound(size))->second);
    return signature;
  }

 private:
  std::map<std::uint64_t, int> behaviour_;
};

std::vector<std::uint64_t> sizes_of(const ThresholdSearch& search) {
  std::vector<std::uint64_t> sizes;
  for (const Threshold& threshold : search.thresholds) sizes.push_back(threshold.at_bytes);
  return sizes;
}

TEST(ThresholdGrid, HasBothEndsAndRises) {
  const auto grid = size_grid(16 * kKiB, 2 * kGiB, 2);
  EXPECT_EQ(grid.front(), 16 * kKiB);
  EXPECT_EQ(grid.back(), 2 * kGiB);
  EXPECT_EQ(grid.size(), 35U);
  for (std::size_t i = 1; i < grid.size(); ++i) EXPECT_LT(grid[i - 1], grid[i]);
  EXPECT_EQ(size_grid(5, 5, 2), (std::vector<std::uint64_t>{5}));
}

TEST(ThresholdSearch, FindsOneThresholdToTheByte) {
  for (const std::uint64_t at : {65'537U, 104'729U, 130'049U, 1'299'709U, 99'999'989U}) {
    const auto search = find_thresholds(size_grid(64 * kKiB, 256 * kMiB, 2), Planted({{0, 1}, {at, 2}}));
    EXPECT_EQ(sizes_of(search), (std::vector<std::uint64_t>{at}));
    EXPECT_TRUE(search.noisy.empty());
  }
}

TEST(ThresholdSearch, FindsTwoThatAreCloseTogether) {
  const Planted planted({{0, 1}, {1'000'003, 2}, {1'000'033, 3}});
  const auto search = find_thresholds(size_grid(64 * kKiB, 256 * kMiB, 2), planted);
  EXPECT_EQ(sizes_of(search), (std::vector<std::uint64_t>{1'000'003, 1'000'033}));
  EXPECT_EQ(search.thresholds[0].above, search.thresholds[1].below);
}

TEST(ThresholdSearch, FindsTheSameWhereverItLooksFirst) {
  const auto grid = size_grid(64 * kKiB, 256 * kMiB, 2);
  const Planted planted({{0, 1}, {1'000'003, 2}, {33'550'313, 3}, {33'550'314, 4}});
  const auto plain = find_thresholds(grid, planted);
  // The right thresholds, mixed with others: neighbors, grid points, and sizes beyond the grid.
  for (const std::set<std::uint64_t>& likely :
       std::vector<std::set<std::uint64_t>>{{1'000'003, 33'550'313, 33'550'314},
                                            {1'000'002, 1'000'004},
                                            {1, grid[3], grid[4], grid[4] + 1, 8 * kGiB},
                                            {999'999, 33'550'314}}) {
    const auto search = find_thresholds(grid, planted, likely);
    EXPECT_EQ(search.thresholds, plain.thresholds);
    EXPECT_LE(search.probes, plain.probes + 2 * likely.size());
  }
  const auto known = find_thresholds(grid, planted, {1'000'003, 33'550'313, 33'550'314});
  // Beyond the grid: two probes at the lone threshold, three at the two neighbors, and one more for each side of the
  // three thresholds.
  EXPECT_LE(known.probes, grid.size() + 2 + 3 + 1 + 6);
}

TEST(ThresholdSearch, LooksAtSomeSizesWithTwoProbesEach) {
  const auto search =
      look_for_thresholds({1'000'003, 1'000'032, 1'000'033}, Planted({{0, 1}, {1'000'003, 2}, {1'000'033, 3}}));
  EXPECT_EQ(sizes_of(search), (std::vector<std::uint64_t>{1'000'003, 1'000'033}));
  EXPECT_EQ(search.probes, 6U);
}

TEST(ThresholdSearch, FindsAWindowThatAGridPointFallsInto) {
  const auto grid = size_grid(64 * kKiB, 256 * kMiB, 2);
  const std::uint64_t inside = grid[5];
  const Planted planted({{0, 1}, {inside - 30 * kKiB, 2}, {inside + 34 * kKiB, 1}});
  EXPECT_EQ(sizes_of(find_thresholds(grid, planted)),
            (std::vector<std::uint64_t>{inside - 30 * kKiB, inside + 34 * kKiB}));
}

TEST(ThresholdSearch, NeedsFewProbes) {
  const auto grid = size_grid(16 * kKiB, 2 * kGiB, 2);
  const auto search = find_thresholds(grid, Planted({{0, 1}, {130'049, 2}, {134'213'633, 3}}));
  ASSERT_EQ(search.thresholds.size(), 2U);
  double gaps = 0;
  for (std::size_t i = 1; i < grid.size(); ++i) {
    for (const std::uint64_t at : {130'049U, 134'213'633U}) {
      if (at > grid[i - 1] && at <= grid[i]) gaps += std::log2(static_cast<double>(grid[i] - grid[i - 1]));
    }
  }
  EXPECT_LT(static_cast<double>(search.probes), 2 * (static_cast<double>(grid.size()) + gaps));
  EXPECT_EQ(search.grid, grid.size());
}

TEST(ThresholdSearch, NamesSizesThatAnswerDifferentlyTheSecondTime) {
  std::map<std::uint64_t, int> asked;
  const Planted planted({{0, 1}, {100'003, 2}});
  const auto search = find_thresholds({64 * kKiB, 128 * kKiB}, [&](std::uint64_t size) {
    Signature signature = planted(size);
    if (size == 100'003 && ++asked[size] > 1) signature.reuse.home = "other";
    return signature;
  });
  EXPECT_EQ(sizes_of(search), (std::vector<std::uint64_t>{100'003}));
  EXPECT_EQ(search.noisy, (std::vector<std::uint64_t>{100'003}));
}

TEST(ThresholdSearch, FindsAsManyInOneGapAsItSays) {
  const std::map<std::uint64_t, int> four{{0, 1}, {70'001, 2}, {80'021, 3}, {90'001, 4}, {100'003, 5}};
  const auto search = find_thresholds({64 * kKiB, 128 * kKiB}, Planted(four));
  EXPECT_EQ(sizes_of(search), (std::vector<std::uint64_t>{70'001, 80'021, 90'001, 100'003}));
  for (const Threshold& threshold : search.thresholds) EXPECT_TRUE(threshold.exact());
}

TEST(ThresholdSearch, TellsWhereItGaveUpOnTooManyChanges) {
  // The behavior changes every 16 bytes.
  const auto search = find_thresholds({64 * kKiB, 128 * kKiB}, [](std::uint64_t size) {
    return Planted(std::map<std::uint64_t, int>{{0, static_cast<int>(size / 16)}})(size);
  });
  EXPECT_LT(search.probes, 2 + 34 * kMostChangesInGap);
  ASSERT_EQ(search.thresholds.size(), kMostChangesInGap);
  EXPECT_TRUE(search.noisy.empty());
  // The thresholds cover the whole range without gaps.
  EXPECT_EQ(search.thresholds.front().after_bytes, 64 * kKiB);
  EXPECT_EQ(search.thresholds.back().at_bytes, 128 * kKiB);
  for (std::size_t i = 1; i < search.thresholds.size(); ++i) {
    EXPECT_EQ(search.thresholds[i - 1].at_bytes, search.thresholds[i].after_bytes);
    EXPECT_EQ(search.thresholds[i - 1].above, search.thresholds[i].below);
    EXPECT_FALSE(search.thresholds[i].exact());
  }
}

TEST(ThresholdSearch, DoesNotBisectNoise) {
  std::mt19937_64 random(20261120);
  const auto grid = size_grid(16 * kKiB, 2 * kGiB, 2);
  const auto search = find_thresholds(grid, [&](std::uint64_t size) {
    // Above 1 GiB, answers are random.
    return Planted(std::map<std::uint64_t, int>{{0, size > kGiB ? static_cast<int>(random() % 1000) : 7}})(size);
  });
  EXPECT_LT(search.probes, 2 * grid.size());
  ASSERT_FALSE(search.thresholds.empty());
  EXPECT_FALSE(search.noisy.empty());
  for (const Threshold& threshold : search.thresholds) {
    EXPECT_FALSE(threshold.exact());
    EXPECT_GE(threshold.after_bytes, kGiB);
  }
}

TEST(ThresholdSearch, FindsRandomThresholdsOneToAGap) {
  std::mt19937_64 random(20161205);
  const auto grid = size_grid(16 * kKiB, 2 * kGiB, 2);
  for (int round = 0; round < 100; ++round) {
    std::map<std::uint64_t, int> behaviour{{0, 0}};
    std::vector<std::uint64_t> expected;
    int next = 1;
    for (std::size_t i = 1; i < grid.size(); ++i) {
      if (random() % 3 != 0) continue;
      const std::uint64_t at = grid[i - 1] + 1 + random() % (grid[i] - grid[i - 1]);
      behaviour[at] = next++;
      expected.push_back(at);
    }
    EXPECT_EQ(sizes_of(find_thresholds(grid, Planted(behaviour))), expected);
  }
}

/// Parts of the block that free zeroes, by the size from which on each part applies; "n/a" if unknown.
SignatureProbe freeing(std::map<std::uint64_t, const char*> zeroed) {
  return [zeroed = std::move(zeroed)](std::uint64_t size) {
    Signature signature;
    signature.status = "ok";
    signature.reuse.in_free.zeroed = std::prev(zeroed.upper_bound(size))->second;
    return signature;
  };
}

TEST(ThresholdSearch, WhatIsNotKnownOfFreeIsNoChange) {
  const auto grid = size_grid(64 * kKiB, 256 * kMiB, 2);
  for (const char* known : {"none", "all"}) {
    const auto search = find_thresholds(grid, freeing({{0, "n/a"}, {1'000'003, known}, {2'000'003, "n/a"}}));
    EXPECT_EQ(sizes_of(search), std::vector<std::uint64_t>()) << known;
    EXPECT_EQ(search.probes, grid.size());
    EXPECT_EQ(search.at_from.reuse.in_free.zeroed, known);
  }
}

TEST(ThresholdSearch, WhatIsNotKnownOfFreeHidesNoChange) {
  const auto search =
      find_thresholds({1'000, 2'000, 4'000, 8'000}, freeing({{0, "none"}, {1'500, "n/a"}, {3'500, "all"}}));
  ASSERT_EQ(sizes_of(search), (std::vector<std::uint64_t>{3'500}));
  EXPECT_FALSE(search.thresholds[0].exact()) << "the behavior is unknown one byte below";
  EXPECT_EQ(search.thresholds[0].after_bytes, 1'000U);
  EXPECT_EQ(search.thresholds[0].below.reuse.in_free.zeroed, "none");
  EXPECT_TRUE(search.noisy.empty());
}

TEST(ThresholdSearch, WhatIsNotKnownOfFreeIsAsAtASizeThatIsOtherwiseAlike) {
  // The first blocks in "mapping" are cleared, but zeroing cannot be detected in blocks this small.
  const auto free = freeing({{0, "none"}, {2'400, "n/a"}, {3'000, "all"}});
  const auto search = find_thresholds({1'000, 2'000, 4'000}, [&](std::uint64_t size) {
    Signature signature = free(size);
    signature.reuse.home = size < 2'500 ? "arena" : "mapping";
    return signature;
  });
  ASSERT_EQ(sizes_of(search), (std::vector<std::uint64_t>{2'500})) << "from 3,000 bytes on, the zeroing is known";
  EXPECT_TRUE(search.thresholds[0].exact());
  EXPECT_EQ(search.thresholds[0].below.reuse.in_free.zeroed, "none");
  EXPECT_EQ(search.thresholds[0].above.reuse.in_free.zeroed, "all");
}

TEST(Signature, AMappingThatIsCutToItsAlignmentIsAMapping) {
  // A mapping must be cut to its alignment only if the kernel placed it at an unaligned address.
  const auto calls = [](const Json& in_calloc, const Json& in_free) {
    const Json figures{{"zeroed_bytes", 0}, {"redundant_zeroed_bytes", 0},  {"populated_bytes", 0},
                       {"home", "mapping"}, {"calloc_syscalls", in_calloc}, {"free_syscalls", in_free}};
    Json point = figures;
    point["status"] = "ok";
    point["size_bytes"] = 1 << 20;
    point["first_ops"] = {figures};
    return signature_of(point_from_json(point)).reuse;
  };
  const std::set<std::string> map{"mmap"};
  EXPECT_EQ(calls({{"mmap", 2}, {"munmap", 3}}, Json::object()).calloc_syscalls, map);
  EXPECT_EQ(calls({{"mmap", 1}}, Json::object()).calloc_syscalls, map);
  // Calls to mmap and munmap count as one mapping only in calloc, and only together.
  EXPECT_EQ(calls({{"munmap", 1}}, {{"mmap", 1}, {"munmap", 1}}).calloc_syscalls, (std::set<std::string>{"munmap"}));
  EXPECT_EQ(calls(Json::object(), {{"mmap", 1}, {"munmap", 1}}).free_syscalls,
            (std::set<std::string>{"mmap", "munmap"}));
}

TEST(Signature, OfRefillLoopIsWhatARoundRefillsAndWhatReturnedIt) {
  const auto refilling = [](std::uint64_t refilled, std::uint64_t by_brk, std::uint64_t by_munmap) {
    Json point{{"case", "refill_loop"}, {"status", "ok"}, {"size_bytes", 100}, {"touch", 1.0}};
    point["requested_bytes"] = 800;
    point["refilled_bytes"] = refilled;
    point["returned_by_brk_bytes"] = by_brk;
    point["returned_by_munmap_bytes"] = by_munmap;
    point["returned_by_madvise_bytes"] = 0;
    point["first_ops"] = {{{"op", 1}}};
    return signature_of(point_from_json(point));
  };
  EXPECT_EQ(refilling(199, 199, 0).refilling, (Refilling{"none", {}}));
  EXPECT_EQ(refilling(600, 400, 200).refilling, (Refilling{"part", {"brk", "munmap"}}));
  const Signature all = refilling(601, 601, 199);
  EXPECT_EQ(all.refilling, (Refilling{"all", {"brk"}}));
  EXPECT_EQ(Json(all).get<Signature>(), all);
  EXPECT_EQ(describe_change(refilling(0, 0, 0), all),
            (BehaviourChanges{{"rounds refill all of what they use, returned by brk (before: refill next to nothing: "
                               "memory is kept)"}}));
}

TEST(Signature, HasTheSameDirectionInTheWordsOfVersion02) {
  std::size_t directions = 0;
  const auto expect_alike = [&](const Signature& below, const Signature& above) {
    for (const BehaviourChange& change : describe_change(below, above)) {
      const auto read = Json(change).get<BehaviourChange>();
      EXPECT_EQ(read.direction, change.direction) << change.words;
      EXPECT_EQ(read.fails, change.fails) << change.words;
      directions += change.direction != Direction::kNeither ? 1 : 0;
    }
  };
  const std::string shares[] = {"none", "part", "all", "n/a"};
  std::vector<Signature> all;
  for (const std::string& zeroed : shares) {
    for (const std::string& redundant : shares) {
      for (const std::set<std::string>& calls : {std::set<std::string>{}, {"munmap"}, {"n/a"}}) {
        Signature signature{"ok", {"heap", zeroed, redundant, zeroed, calls, calls, {zeroed, redundant}}, {}, {}};
        signature.reuse = signature.fresh;
        all.push_back(signature);
      }
    }
  }
  for (const char* status : {"failed", "not_zero", "misaligned", "crashed", "timeout", "skipped"}) {
    all.push_back({status, {}, {}, {}});
  }
  for (const Signature& below : all) {
    for (const Signature& above : all) expect_alike(below, above);
  }
  EXPECT_GT(directions, 1000U);
}

/// The signature of blocks of `size` bytes with the bytes that free zeroed in each call; `bound` tells whether these
/// bytes are an upper bound.
Signature clearing(std::uint64_t size, const Json& zeroed, const Json& redundant, const char* bound = "exact",
                   std::uint64_t page = 4096) {
  Json point{{"zeroed_in_free_bytes", zeroed}, {"redundant_zeroed_in_free_bytes", redundant}};
  point["zeroed_in_free_bound"] = bound;
  const Json first = point;
  point["status"] = "ok";
  point["size_bytes"] = size;
  point["first_ops"] = {first};
  return signature_of(point_from_json(point, page));
}

TEST(Signature, HasWhatFreeZeroes) {
  const Signature cleared = clearing(654'321, 654'321, 0);
  EXPECT_EQ(cleared.reuse.in_free.zeroed, "all");
  EXPECT_EQ(cleared.reuse.in_free.redundant, "none");
  EXPECT_EQ(cleared.fresh.in_free.zeroed, "all");
  const Json json(cleared);
  EXPECT_EQ(json["reuse"]["zeroed_in_free"], "all");
  EXPECT_EQ(json["fresh"]["redundant_in_free"], "none");
  EXPECT_EQ(Json(json.get<Signature>()), json);

  const Signature untouched = clearing(654'320, 0, 0);
  const auto changes = describe_change(untouched, cleared);
  EXPECT_EQ(changes,
            (BehaviourChanges{
                {"free after later callocs zeroes the whole block, which was dirty (before: writes no zeros)"},
                {"free after first callocs zeroes the whole block, which was dirty (before: writes no zeros)"}}));
  EXPECT_EQ(direction_of(changes), Direction::kWorse);
  EXPECT_EQ(direction_of(describe_change(cleared, untouched)), Direction::kBetter);
  EXPECT_EQ(direction_of(describe_change(clearing(100, 100, 50), clearing(100, 100, 100))), Direction::kWorse);
  EXPECT_EQ(direction_of(describe_change(clearing(100, 50, 50), untouched)), Direction::kBetter);
  // Zeros beyond the request are redundant, and are ignored.
  EXPECT_EQ(clearing(100, 180, 80), clearing(100, 100, 0));
}

TEST(Signature, WhatIsNotKnownOfFreeIsNoChange) {
  const Json na{{"na", "nobody looked"}};
  const Signature unknown = clearing(100, na, na);
  for (const Signature& known : {clearing(100, 0, 0), clearing(100, 100, 100), clearing(100, 50, 0)}) {
    EXPECT_EQ(unknown, known);
    EXPECT_TRUE(describe_change(unknown, known).empty());
    Json earlier(known);
    for (const char* which : {"fresh", "reuse"}) {
      earlier[which].erase("zeroed_in_free");
      earlier[which].erase("redundant_in_free");
    }
    EXPECT_EQ(earlier.get<Signature>(), known);
    EXPECT_EQ(Json(earlier.get<Signature>()), earlier) << "the signature has no more than before";
  }
  EXPECT_FALSE(clearing(100, 0, 0) == clearing(100, 50, 0));
  EXPECT_FALSE(clearing(100, 50, 50) == clearing(100, 50, 0));
  // If only the redundant part is unknown, the rest of the signature is compared.
  EXPECT_EQ(clearing(100, 100, na), clearing(100, 100, 100));
  EXPECT_FALSE(clearing(100, 100, na) == clearing(100, 0, 0));
}

TEST(Signature, AStoreThatCountsAsItsPageIsNoThreshold) {
  // tcmalloc stores a NULL pointer in a free block. The store counts as up to 4,096 bytes, a quarter of 16 KiB.
  const auto stored = [](std::uint64_t size, std::uint64_t pages) {
    return clearing(size, pages * 4096, pages * 4096, "at most");
  };
  EXPECT_EQ(stored(16'384, 1).reuse.in_free.zeroed, "n/a");
  EXPECT_EQ(stored(16'385, 1).reuse.in_free.zeroed, "none");
  for (const std::uint64_t pages : {1U, 2U}) {
    for (std::uint64_t size = pages * 4096; size < 128 * kKiB; size += 1000) {
      EXPECT_EQ(stored(size, pages), stored(2 * kMiB, pages)) << size;
    }
  }
  // Stores to every page are certain in large blocks, but not in small ones. Small blocks do not get a separate
  // threshold for these stores.
  EXPECT_EQ(stored(2 * kMiB, 512).reuse.in_free.zeroed, "all");
  EXPECT_EQ(stored(2 * kMiB, 256).reuse.in_free.zeroed, "part");
  for (std::uint64_t pages = 1; pages < 40; ++pages) EXPECT_EQ(stored(pages * 4096, pages), stored(2 * kMiB, 512));
  EXPECT_FALSE(stored(2 * kMiB, 512) == stored(2 * kMiB, 1));
}

TEST(Signature, AStoreThatCountsAsItsPageIsNoneOnAMachineWithLargerPages) {
  // On a machine with pages of 64 KiB, one page may result from a store of a few bytes, but 16 pages of 4 KiB need 16
  // stores.
  constexpr std::uint64_t kLarge = 64 * kKiB;
  EXPECT_EQ(clearing(3 * kLarge, kLarge, kLarge, "at most", kLarge).reuse.in_free.zeroed, "n/a");
  EXPECT_EQ(clearing(3 * kLarge, kLarge, kLarge, "at most").reuse.in_free.zeroed, "part");
  EXPECT_EQ(clearing(kLarge, kLarge, kLarge, "at most", kLarge).reuse.in_free.zeroed, "n/a");
  EXPECT_EQ(clearing(kLarge, kLarge, kLarge, "at most").reuse.in_free.zeroed, "all");
}

TEST(Signature, SharesAreCoarse) {
  EXPECT_EQ(share_of(0, 100), "none");
  EXPECT_EQ(share_of(24, 100), "none");
  EXPECT_EQ(share_of(25, 100), "part");
  EXPECT_EQ(share_of(75, 100), "part");
  EXPECT_EQ(share_of(76, 100), "all");
  EXPECT_EQ(share_of(std::uint64_t{1} << 46, std::uint64_t{1} << 46), "all");
}

}  // namespace
}  // namespace zerotax::thresholds
