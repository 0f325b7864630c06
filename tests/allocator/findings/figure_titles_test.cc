#include <gtest/gtest.h>

#include "base/size.h"
#include "findings_testing.h"
#include "summary_testing.h"

namespace zerotax::findings {

namespace {

Json title_of(const std::vector<Json>& points, const char* figure) {
  return judged(points).at("figures").at(figure).at("title");
}

Json faulting(const char* allocator, std::uint64_t faults) {
  return point_of(Made{.allocator = allocator, .size = 100 * kMiB, .calloc_faults = faults});
}

Json zeroing(const char* allocator, std::uint64_t redundant) {
  return point_of(Made{.allocator = allocator, .zeroed = kMiB, .redundant = redundant});
}

Json of_case(const char* name, const char* allocator, std::uint64_t size) {
  Json point = point_of(Made{.allocator = allocator, .size = size});
  point["case"] = name;
  return point;
}

Json receiving(const char* allocator, std::uint64_t size, double mb_per_s, const char* name = "recv_buffer") {
  Json point = of_case(name, allocator, size);
  point["transfer"] = {{"mb_per_s", mb_per_s}};
  return point;
}

Json forking(const char* allocator, std::uint64_t size, double ns) {
  Json point = of_case("fork_after_calloc", allocator, size);
  point["fork"] = {{"fork_ns", {{"median", ns}, {"p05", ns}, {"p95", ns}}}};
  return point;
}

TEST(FigureTitles, EveryPageIsAllButATwentieth) {
  const std::uint64_t kPages = 100 * kMiB / page_bytes();
  const auto told = [](std::uint64_t faults) {
    return title_of({faulting("a", faults), faulting("b", 1)}, "faults_vs_size");
  };
  EXPECT_EQ(told(kPages + 3), "Inside an untouched calloc of 100 MiB, a faults in every page");
  EXPECT_EQ(told(kPages - kPages / 20), "Inside an untouched calloc of 100 MiB, a faults in every page");
  EXPECT_TRUE(is_not_available(told(kPages - kPages / 20 - 1)));
}

TEST(FigureTitles, ZerosOverZerosAreWhatTheSummaryCallsRedundant) {
  const auto told = [](std::uint64_t redundant) {
    return title_of({zeroing("a", redundant), zeroing("b", 0)}, "zeroed_vs_size");
  };
  EXPECT_EQ(told(kMiB / 2), "In an untouched calloc of 1 MiB, a writes zeros over zeros");
  EXPECT_TRUE(is_not_available(told(kMiB / 2 - 1)));
}

TEST(FigureTitles, ManyNamesAreCounted) {
  std::vector<Json> points;
  for (const char* name : {"a", "b", "c"}) points.push_back(zeroing(name, kMiB));
  EXPECT_EQ(title_of(points, "zeroed_vs_size"), "In an untouched calloc of 1 MiB, a, b and c write zeros over zeros");
  points.push_back(zeroing("d", kMiB));
  EXPECT_EQ(title_of(points, "zeroed_vs_size"), "In an untouched calloc of 1 MiB, all 4 write zeros over zeros");
  points.push_back(zeroing("e", 0));
  EXPECT_EQ(title_of(points, "zeroed_vs_size"), "In an untouched calloc of 1 MiB, 4 of 5 write zeros over zeros");
}

TEST(FigureTitles, TheFastestAndTheSlowestAtTheLargestSizeThatTwoShare) {
  const auto timed = [](const char* name, std::uint64_t size, double ns) {
    return point_of(Made{.allocator = name, .size = size, .ns = ns});
  };
  EXPECT_EQ(title_of({timed("a", kMiB, 10), timed("b", kMiB, 0.4), timed("b", 2 * kMiB, 1)}, "time_vs_size"),
            "An untouched calloc of 1 MiB takes 1 ns with b, 10 ns with a");
  EXPECT_TRUE(is_not_available(title_of({timed("a", kMiB, 10), timed("b", 2 * kMiB, 1)}, "time_vs_size")));
  EXPECT_EQ(title_of({timed("a", 100 * kMiB, 10), timed("a", 1000 * kMiB, 1e6)}, "headline"),
            "An untouched calloc of 1000 MiB takes 1.00 ms with a");
}

TEST(FigureTitles, LinesAreNamedBySettingsThreadAndBuild) {
  Json set = zeroing("a", kMiB);
  set["env"] = {{"K", "1"}, {"L", "x"}};
  Json worker = zeroing("a", kMiB);
  worker["thread"] = "worker";
  Json preloaded = zeroing("a", kMiB);
  preloaded["preload"] = "/tmp/liba.so";
  const auto only = [&](const Json& point) {
    Json other = zeroing("a", 0);
    const std::string told = title_of({other, point}, "zeroed_vs_size");
    return told.substr(told.find(", ") + 2);
  };
  EXPECT_EQ(only(set), "a [K=1 L=x] writes zeros over zeros");
  EXPECT_EQ(only(worker), "a (worker) writes zeros over zeros");
  EXPECT_EQ(only(preloaded), "a {liba.so} writes zeros over zeros");
}

TEST(FigureTitles, ReceivingIsWhereTheRatesAreFurthestApartByTlsOrElseByTcp) {
  EXPECT_EQ(title_of({receiving("a", kMiB, 100), receiving("b", kMiB, 50), receiving("a", 100'000'000, 621),
                      receiving("b", 100'000'000, 2.814), receiving("b", kMiB, 1, "recv_buffer_tcp")},
                     "recv_buffer"),
            "Received into buffers of 100 MB: 621 MB/s with a, 2.81 MB/s with b");
  EXPECT_EQ(title_of({receiving("a", kMiB, 100, "recv_buffer_tcp"), receiving("b", kMiB, 50, "recv_buffer_tcp")},
                     "recv_buffer"),
            "Received into buffers of 1 MiB: 100 MB/s with a, 50 MB/s with b");
}

TEST(FigureTitles, ForkIsOfTheLargestBlockThatNobodyWrote) {
  EXPECT_EQ(title_of({forking("a", kGiB, 158'000), forking("b", kGiB, 16.4e6), forking("b", kMiB, 99e6)},
                     "fork_after_calloc"),
            "With 1 GiB from calloc that nobody wrote, fork takes 158 µs under a, 16.4 ms under b");
}

}  // namespace
}  // namespace zerotax::findings
