#include "advise/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "simulated_program.h"

namespace zerotax::advise {
namespace {

constexpr Candidate kSetting{1, false, {}, false};
constexpr Candidate kTwoSettings{2, false, {}, false};
constexpr Candidate kLibrary{1, true, {}, false};

SearchMethod seeded(std::uint64_t seed) {
  SearchMethod method;
  method.seed = seed;
  return method;
}

TEST(Search, FindsTheOneThatHelpsOnAQuietMachineAndOnABusyOne) {
  const std::vector<Candidate> candidates(12, kSetting);
  std::vector<Effect> effects(12);
  effects[7].cpu = 0.5;
  for (const double noise : {0.005, 0.05, 0.15}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SimulatedProgram program(effects, noise, seed);
      const SearchResult result = search_remedies(candidates, seeded(seed), std::ref(program));
      ASSERT_TRUE(result.winner.has_value()) << noise << " " << seed;
      EXPECT_EQ(*result.winner, 7U);
      EXPECT_TRUE(result.complete);
    }
  }
}

TEST(Search, RecommendsNothingWhereNothingHasAnyEffect) {
  const std::vector<Candidate> candidates(15, kSetting);
  unsigned alarms = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SimulatedProgram program(std::vector<Effect>(15), 0.1, seed);
    if (search_remedies(candidates, seeded(seed), std::ref(program)).winner) ++alarms;
  }
  EXPECT_LE(alarms, 2U) << "of 400, where 0.5 % would be 2";
}

TEST(Search, AGainWithinTheBandIsNotRecommendedHoweverWellItIsSeen) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedProgram program({{0.97}, {1}, {1}}, 0.002, seed);
    EXPECT_FALSE(search_remedies(std::vector<Candidate>(3, kSetting), seeded(seed), std::ref(program)).winner);
  }
}

TEST(Search, OfWhatIsAboutAsGoodTheSimplerIsPreferred) {
  const std::vector<Candidate> candidates{kLibrary, kTwoSettings, kSetting, kLibrary};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedProgram program({{0.29}, {0.30}, {0.31}, {0.29}}, 0.005, seed);
    EXPECT_EQ(search_remedies(candidates, seeded(seed), std::ref(program)).winner, 2U) << seed;
  }
}

TEST(Search, ALibraryIsPreferredWhereItIsMuchBetter) {
  SimulatedProgram program({{0.2}, {0.5}}, 0.01, 1);
  EXPECT_EQ(search_remedies({kLibrary, kSetting}, {}, std::ref(program)).winner, 0U);
}

TEST(Search, WhatTakesTooMuchMemoryIsShownButNotRecommended) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedProgram program({{0.3, 3}, {0.5, 1.1}, {1}}, 0.02, seed);
    const SearchResult result = search_remedies(std::vector<Candidate>(3, kSetting), seeded(seed), std::ref(program));
    EXPECT_EQ(result.winner, 1U);
    EXPECT_EQ(result.faster_still, 0U);
    EXPECT_TRUE(result.standings[0].heavy);
  }
}

TEST(Search, ItIsRecommendedWhereSoMuchMemoryIsAllowed) {
  SimulatedProgram program({{0.3, 3}, {0.5, 1.1}}, 0.02, 1);
  SearchMethod method;
  method.memory_ratio = 4;
  const SearchResult result = search_remedies(std::vector<Candidate>(2, kSetting), method, std::ref(program));
  EXPECT_EQ(result.winner, 0U);
  EXPECT_FALSE(result.faster_still);
}

TEST(Search, LessMemoryIsFoundWhereThatIsTheGoal) {
  SimulatedProgram program({{0.5, 1}, {1.1, 0.6}, {3, 0.3}}, 0.02, 1);
  SearchMethod method;
  method.goal = Goal::kMemory;
  const SearchResult result = search_remedies(std::vector<Candidate>(3, kSetting), method, std::ref(program));
  EXPECT_EQ(result.winner, 1U) << "the third takes three times the CPU time";
  EXPECT_EQ(result.faster_still, 2U);
}

TEST(Search, WhatFailsOrPrintsSomethingElseIsRunOnceAndNeverRecommended) {
  SimulatedProgram program({{0.1, 1, Trial::End::kFailed}, {0.1, 1, Trial::End::kChangedOutput}, {0.6}}, 0.02, 1);
  const SearchResult result = search_remedies(std::vector<Candidate>(3, kSetting), {}, std::ref(program));
  EXPECT_EQ(result.winner, 2U);
  EXPECT_EQ(result.standings[0].state, Standing::State::kFailed);
  EXPECT_EQ(result.standings[0].why, "was killed by SIGABRT");
  EXPECT_EQ(result.standings[1].state, Standing::State::kChangedOutput);
  EXPECT_EQ(program.runs(0), 1U);
  EXPECT_EQ(program.runs(1), 1U);
}

TEST(Search, WhatFailsInAPairOfTheConfirmationGivesWayToTheNext) {
  SimulatedProgram program({{0.3}, {0.5}, {1}}, 0.01, 1);
  unsigned runs = 0;
  const auto run = [&](std::size_t candidate) {
    Trial trial = program(candidate);
    if (candidate == 0 && ++runs == 7) trial.end = Trial::End::kFailed;
    return trial;
  };
  const SearchResult result = search_remedies(std::vector<Candidate>(3, kSetting), {}, run);
  EXPECT_EQ(result.winner, 1U);
  ASSERT_EQ(result.confirmations.size(), 2U);
  EXPECT_EQ(result.confirmations[0].why_not, "a run with the remedy failed");
}

TEST(Search, TwoThatGainedAreTriedTogether) {
  const std::vector<Candidate> candidates{
      kSetting, kSetting, kSetting, {2, false, {0, 1}, true}, {2, false, {0, 2}, true}};
  SimulatedProgram program({{0.7}, {0.8}, {1}, {0.5}, {0.7}}, 0.01, 1);
  const SearchResult result = search_remedies(candidates, {}, std::ref(program));
  EXPECT_EQ(result.winner, 3U);
  EXPECT_EQ(program.runs(4), 0U);
  EXPECT_EQ(result.standings[4].why, "not both parts of it gained anything alone");
}

TEST(Search, AnAllocatorsSettingIsTriedUnlessItAloneIsSlower) {
  const std::vector<Candidate> candidates{kLibrary, kLibrary, {2, true, {0}, false}, {2, true, {1}, false}};
  SimulatedProgram program({{1}, {1.5}, {0.4}, {0.3}}, 0.01, 1);
  const SearchResult result = search_remedies(candidates, {}, std::ref(program));
  EXPECT_EQ(result.winner, 2U);
  EXPECT_EQ(program.runs(3), 0U);
  EXPECT_EQ(result.standings[3].why, "a part of it alone was slower");
}

TEST(Search, LosersDropOutEarly) {
  std::vector<Effect> effects(12, {1.3});
  effects[3].cpu = 0.5;
  SimulatedProgram program(effects, 0.01, 1);
  search_remedies(std::vector<Candidate>(12, kSetting), {}, std::ref(program));
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(program.runs(i) == 2, i != 3) << i;
  }
}

TEST(Search, WhatIsSlowInItsFirstRunAloneIsFound) {
  const std::vector<Candidate> candidates(12, kSetting);
  std::vector<Effect> effects(12);
  effects[7] = {0.8, 1, Trial::End::kOk, 3.4};
  for (const bool brief : {false, true}) {
    for (const double noise : {0.005, 0.02}) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SimulatedProgram program(effects, noise, seed);
        SearchMethod method = seeded(seed);
        method.brief = brief;
        const SearchResult result = search_remedies(candidates, method, std::ref(program));
        EXPECT_EQ(result.winner, 7U) << noise << " " << seed;
        EXPECT_NEAR(result.standings[7].score, std::log(0.8), 5 * noise) << "the slow run does not count";
      }
    }
  }
}

TEST(Search, WhatIsFarBehindTheBestInItsFirstRunAloneIsFound) {
  std::vector<Effect> effects(6);
  effects[1].cpu = 0.7;
  effects[4] = {0.25, 1, Trial::End::kOk, 1};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedProgram program(effects, 0.01, seed);
    EXPECT_EQ(search_remedies(std::vector<Candidate>(6, kSetting), seeded(seed), std::ref(program)).winner, 4U) << seed;
  }
}

TEST(Search, ASettingIsTriedWithALibraryThatWasSlowInItsFirstRunAlone) {
  SimulatedProgram program({{0.9, 1, Trial::End::kOk, 3.4}, {0.4}}, 0.01, 1);
  EXPECT_EQ(search_remedies({kLibrary, {2, true, {0}, false}}, {}, std::ref(program)).winner, 1U);
}

TEST(Search, WhatIsSlowerInBothRunsIsJudgedByBoth) {
  SimulatedProgram program({{1.5}, {0.5}, {1}}, 0.01, 1);
  const SearchResult result = search_remedies(std::vector<Candidate>(3, kSetting), {}, std::ref(program));
  EXPECT_EQ(program.runs(0), 2U);
  EXPECT_EQ(result.standings[0].log_ratios.size(), 2U);
  EXPECT_EQ(result.standings[0].kind, TimeVerdict::Kind::kSlower);
}

TEST(Search, WhatWasStoppedBeforeItsSecondRunKeepsItsFirst) {
  SimulatedProgram program({{2}, {0.5}, {1}}, 0.01, 1);
  unsigned left = 8;  // three unchanged runs, then the runs of round 1, including unchanged runs
  const auto run = [&](std::size_t candidate) {
    Trial trial = program(candidate);
    if (left-- == 0) trial.end = Trial::End::kStopped;
    return trial;
  };
  const SearchResult result = search_remedies(std::vector<Candidate>(3, kSetting), {}, run);
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.standings[0].log_ratios.size(), 1U);
  EXPECT_EQ(result.standings[0].kind, TimeVerdict::Kind::kSlower);
}

TEST(Search, WhereItIsStoppedWhatIsKnownIsThere) {
  SimulatedProgram program({{0.5}, {1}, {1}}, 0.01, 1);
  unsigned left = 9;
  const auto run = [&](std::size_t candidate) {
    Trial trial = program(candidate);
    if (left-- == 0) trial.end = Trial::End::kStopped;
    return trial;
  };
  const SearchResult result = search_remedies(std::vector<Candidate>(3, kSetting), {}, run);
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(result.winner);
  EXPECT_EQ(result.runs.size(), 9U);
  EXPECT_LT(result.standings[0].score, -0.5);
}

TEST(Search, NoCandidateIsNoWinner) {
  SimulatedProgram program({}, 0.01, 1);
  const SearchResult result = search_remedies({}, {}, std::ref(program));
  EXPECT_TRUE(result.complete);
  EXPECT_FALSE(result.winner);
}

TEST(Search, TakesNoMoreRunsThanItSays) {
  std::vector<Candidate> candidates(10, kSetting);
  for (std::size_t i = 0; i < 9; ++i) candidates.push_back({2, false, {i, i + 1}, true});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedProgram program(std::vector<Effect>(candidates.size(), {0.93}), 0.05, seed);
    const SearchResult result = search_remedies(candidates, seeded(seed), std::ref(program));
    EXPECT_LE(result.runs.size(), most_runs(candidates, {}) + std::size_t{2} * SearchMethod{}.most_pairs);
  }
}

}  // namespace
}  // namespace zerotax::advise
