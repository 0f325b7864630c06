#include "advise/estimates.h"

#include <gtest/gtest.h>

#include <cmath>

namespace zerotax::advise {
namespace {

using Kind = TimeVerdict::Kind;

SearchRun run_of(std::size_t candidate, double cpu_s) {
  return {Phase::kScreen, 1, candidate, {Trial::End::kOk, "", {cpu_s, cpu_s, 1, 1}}};
}

TEST(Estimates, ARunIsComparedWithThePresentStateBeforeAndAfterIt) {
  const std::vector<SearchRun> runs{run_of(kPresent, 1), run_of(0, 1), run_of(kPresent, 4), run_of(0, 2)};
  const auto ratios = ratios_to_neighbours(runs, 1, Goal::kCpu);
  ASSERT_EQ(ratios[0].size(), 2U);
  EXPECT_NEAR(ratios[0][0], std::log(0.5), 1e-9) << "geometric mean of 1 and 4";
  EXPECT_NEAR(ratios[0][1], std::log(0.5), 1e-9) << "no unchanged run follows";
}

TEST(Estimates, RunsThatFailedAndWarmUpsDoNotCount) {
  std::vector<SearchRun> runs{run_of(kPresent, 9), run_of(kPresent, 1), run_of(0, 3)};
  runs[0].phase = Phase::kWarmUp;
  runs[2].trial.end = Trial::End::kFailed;
  EXPECT_TRUE(ratios_to_neighbours(runs, 1, Goal::kCpu)[0].empty());
  EXPECT_EQ(median_figure(runs, kPresent, Goal::kCpu), 1);
  EXPECT_EQ(median_figure(runs, 0, Goal::kCpu), 0);
}

TEST(Estimates, OneDisturbedRunIsNoNoise) {
  std::vector<SearchRun> runs;
  runs.reserve(20);
  for (int i = 0; i < 20; ++i) runs.push_back(run_of(kPresent, i == 10 ? 3 : i % 2 == 0 ? 1 : 1.02));
  EXPECT_NEAR(noise_of_present(runs, Goal::kCpu), 0.0208, 0.002);
}

TEST(Estimates, AFewRunsOfLittleNoiseSayWhatManyWould) {
  EXPECT_EQ(kind_of_score(std::log(0.5), 0.05, 0.05), Kind::kFaster);
  EXPECT_EQ(kind_of_score(std::log(1.5), 0.05, 0.05), Kind::kSlower);
  EXPECT_EQ(kind_of_score(std::log(1.01), 0.01, 0.05), Kind::kSame);
  EXPECT_EQ(kind_of_score(std::log(1.01), 0.10, 0.05), Kind::kAmbiguous);
  EXPECT_EQ(kind_of_score(std::log(0.8), 0.10, 0.05), Kind::kAmbiguous) << "within three times the noise";
}

TEST(Estimates, MorePairsAreNeededForASmallerGainAndForMoreNoise) {
  constexpr double kAlpha = 0.0025;
  EXPECT_EQ(pairs_needed(-1, 0.01, kAlpha, 40), fewest_pairs(1, kAlpha) + 2) << "fewer pairs could prove nothing";
  const unsigned some = pairs_needed(-0.1, 0.1, kAlpha, 500);
  EXPECT_GT(some, 12U);
  EXPECT_GT(pairs_needed(-0.1, 0.2, kAlpha, 500), 3 * some);
  EXPECT_GT(pairs_needed(-0.05, 0.1, kAlpha, 500), 3 * some);
  EXPECT_EQ(pairs_needed(-0.01, 0.2, kAlpha, 40), 40U);
}

}  // namespace
}  // namespace zerotax::advise
