#include "advise/frontier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "simulated_program.h"

namespace zerotax::advise {
namespace {

constexpr double kNoise = 0.01;
constexpr std::size_t kValues = 12;

/// Levers of kValues values each, and their effects.
struct Levers {
  std::vector<Candidate> candidates;
  std::vector<Effect> effects;
  std::vector<Axis> axes;

  /// Adds a lever whose values from `first` on have the effect `many`. Each value takes a little more memory at idle.
  void add(std::size_t first, Effect few, Effect many, std::size_t settings = 1) {
    Axis axis;
    for (std::size_t i = 0; i < kValues; ++i) {
      axis.candidates.push_back(candidates.size());
      candidates.push_back({settings, false, {}, false});
      effects.push_back(i < first ? few : many);
      effects.back().idle += 0.05 * static_cast<double>(i);
    }
    axes.push_back(axis);
  }

  FrontierResult search(const FrontierMethod& method = {}, std::uint64_t seed = 1) {
    SimulatedProgram program(effects, kNoise, seed);
    return search_frontier(candidates, axes, method, std::ref(program), [](const std::string&, std::size_t) {});
  }
};

bool has(const std::vector<std::size_t>& all, std::size_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

TEST(Frontier, FindsTheSmallestValueThatKeepsTheGain) {
  for (std::size_t first = 1; first < kValues; ++first) {
    Levers levers;
    levers.add(first, {}, {0.2});
    const FrontierResult found = levers.search({}, first);
    EXPECT_TRUE(found.search.complete);
    EXPECT_EQ(found.steer, Goal::kFaults) << "the simulated faults repeat";
    EXPECT_EQ(found.search.winner, first);
    ASSERT_EQ(found.sufficient.size(), 1U);
    EXPECT_EQ(found.sufficient.front().candidate, first);
    EXPECT_EQ(found.goal, Goal::kCpu);
  }
}

TEST(Frontier, FindsTheLargestValueThatKeepsAGainOfMemory) {
  for (std::size_t first = 1; first < kValues; ++first) {
    Levers levers;
    levers.add(first, {.cpu = 1, .idle = 0.1}, {.cpu = 1, .idle = 1.2});
    for (std::size_t i = 0; i < kValues; ++i) levers.effects[i].idle = i < first ? 0.1 : 1.2;
    const FrontierResult found = levers.search({}, first);
    EXPECT_EQ(found.search.winner, first - 1);
    EXPECT_EQ(found.goal, Goal::kIdle) << "no setting takes less CPU time";
  }
}

TEST(Frontier, TheUnchangedValueNeedsNoRun) {
  Levers levers;
  levers.add(9, {}, {0.2});
  levers.axes[0].today = 5;
  SimulatedProgram program(levers.effects, kNoise, 1);
  const auto quiet = [](const std::string&, std::size_t) {};
  EXPECT_EQ(search_frontier(levers.candidates, levers.axes, {}, std::ref(program), quiet).search.winner, 9U);
  EXPECT_EQ(program.runs(5), 0U);
}

TEST(Frontier, LeversThatHelpOnlyTogetherAreFoundAndEachAloneIsTried) {
  Levers levers;
  levers.add(kValues, {1.3}, {});
  levers.add(kValues, {1.4}, {});
  levers.add(6, {1.3}, {0.2}, 2);
  levers.axes[2].parts = {0, 1};
  const FrontierResult found = levers.search();
  const std::size_t joint = levers.axes[2].candidates[6];
  EXPECT_EQ(found.search.winner, joint);
  ASSERT_EQ(found.alone.size(), 2U);
  for (const std::size_t part : {0U, 1U}) {
    EXPECT_EQ(found.alone[part].joint, joint);
    EXPECT_EQ(found.alone[part].candidate, levers.axes[part].candidates[6]);
    EXPECT_GT(found.search.standings[found.alone[part].candidate].score, std::log(1.2));
  }
}

TEST(Frontier, TheGoalPicksAlongTheSet) {
  Levers levers;
  levers.add(6, {}, {.cpu = 0.3, .idle = 2});
  levers.add(4, {.cpu = 1.6, .idle = 0.2}, {});
  FrontierMethod method;
  const FrontierResult fast = levers.search(method);
  EXPECT_EQ(fast.search.winner, 6U);
  // The first value of the lever takes 2 MB less, which hardly counts.
  const std::size_t small = levers.axes[1].candidates[1];
  EXPECT_TRUE(has(fast.members, small));
  method.wanted = Goal::kIdle;
  const FrontierResult found = levers.search(method);
  ASSERT_TRUE(found.search.winner.has_value());
  EXPECT_LT(*found.search.winner, levers.axes[1].candidates[4]);
  EXPECT_GE(*found.search.winner, small);
  EXPECT_EQ(found.goal, Goal::kIdle);
}

TEST(Frontier, OnlyMembersWithinTheMemoryAreShown) {
  Levers levers;
  levers.add(6, {}, {.cpu = 0.3, .idle = 3});
  FrontierMethod method;
  method.most_extra_bytes = 20e6;
  const FrontierResult found = levers.search(method);
  EXPECT_TRUE(found.members.empty());
  EXPECT_FALSE(found.search.winner);
  method.most_extra_bytes = 200e6;
  EXPECT_EQ(levers.search(method).search.winner, 6U);
}

TEST(Frontier, NothingIsRecommendedWhereNothingHasAnyEffect) {
  unsigned alarms = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Levers levers;
    levers.add(kValues, {}, {});
    levers.add(kValues, {}, {});
    if (levers.search({}, seed).search.winner) ++alarms;
  }
  EXPECT_LE(alarms, 1U);
}

TEST(Frontier, AFailingValueIsNotSufficient) {
  Levers levers;
  levers.add(5, {}, {0.2});
  for (std::size_t i = 3; i < 8; ++i) levers.effects[i].end = Trial::End::kFailed;
  const FrontierResult found = levers.search();
  EXPECT_EQ(found.search.winner, 8U);
}

TEST(Frontier, KeepsWhatIsKnownWhenItIsStopped) {
  Levers levers;
  levers.add(6, {}, {0.2});
  SimulatedProgram program(levers.effects, kNoise, 1);
  const auto quiet = [](const std::string&, std::size_t) {};
  for (unsigned most = 0; most < 32; most += 3) {
    unsigned left = most;
    const auto run = [&](std::size_t candidate) {
      Trial trial = program(candidate);
      if (left == 0) trial.end = Trial::End::kStopped;
      if (left > 0) --left;
      return trial;
    };
    const FrontierResult found = search_frontier(levers.candidates, levers.axes, {}, run, quiet);
    EXPECT_FALSE(found.search.complete) << most;
    EXPECT_FALSE(found.search.winner);
    EXPECT_EQ(found.search.runs.size(), most);
    if (most >= 12) {
      EXPECT_FALSE(found.members.empty()) << most;
    }
  }
}

/// Adds levers whose gains and prices rise with their number.
void add_many(Levers& levers) {
  for (std::size_t first = 2; first < 10; ++first) {
    levers.add(first, {}, {.cpu = 1 - 0.08 * static_cast<double>(first), .idle = 1 + 0.1 * static_cast<double>(first)});
  }
}

double time_of(const FrontierResult& found) {
  double seconds = 0;
  for (const SearchRun& run : found.search.runs) seconds += run.trial.took_s;
  return seconds;
}

TEST(Frontier, TakesNoMoreRunsThanItSays) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Levers levers;
    add_many(levers);
    SimulatedProgram program(levers.effects, kNoise, seed);
    unsigned calls = 0;
    const auto run = [&](std::size_t candidate) {
      Trial trial = program(candidate);
      if (seed % 2 == 0 && ++calls % 2 == 0) trial.figures.faults *= 1.5;  // the faults do not repeat
      return trial;
    };
    std::size_t most = 0;
    const FrontierResult found = search_frontier(
        levers.candidates, levers.axes, {}, run, [](const std::string&, std::size_t) {},
        [&](std::size_t runs, double) { most = runs; });
    EXPECT_EQ(found.steer, seed % 2 == 0 ? Goal::kCpu : Goal::kFaults);
    EXPECT_LE(found.search.runs.size(), most);
    EXPECT_LE(found.members.size(), kMostMembers);
    EXPECT_TRUE(found.left_out.empty());
  }
}

TEST(Frontier, TakesNoLongerThanItMay) {
  for (const double most_s : {60.0, 90.0, 150.0, 330.0}) {
    Levers levers;
    add_many(levers);
    FrontierMethod method;
    method.most_s = most_s;
    const FrontierResult found = levers.search(method);
    EXPECT_TRUE(found.search.complete);
    EXPECT_LE(time_of(found), most_s);
    EXPECT_EQ(found.left_out.empty(), most_s > 100) << most_s;
    EXPECT_TRUE(found.search.winner || most_s == 60) << most_s;
  }
}

TEST(Frontier, TheLeverWithTheLargestGainIsFirstIfTheTimeIsShort) {
  Levers levers;
  for (int i = 0; i < 6; ++i) levers.add(5, {}, {0.8});
  levers.add(5, {}, {0.2});
  FrontierMethod method;
  method.most_s = 50;
  const FrontierResult found = levers.search(method);
  EXPECT_EQ(found.search.winner, levers.axes.back().candidates[5]);
  EXPECT_FALSE(found.left_out.empty());
  EXPECT_FALSE(has(found.left_out, levers.axes.back().candidates[5]));
}

TEST(Frontier, TheSameOfSeveralEqualSettingsIsRecommendedEachTime) {
  Levers levers;
  levers.add(4, {}, {.cpu = 0.5, .idle = 0.6});
  levers.add(6, {}, {.cpu = 0.5, .idle = 0.6}, 2);
  levers.add(2, {}, {.cpu = 0.5, .idle = 0.6});
  for (Effect& effect : levers.effects) effect.idle = effect.cpu < 1 ? 0.6 : 1;
  unsigned same = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SimulatedProgram program(levers.effects, 0.03, seed);
    Random random(seed);
    const auto run = [&](std::size_t candidate) {
      Trial trial = program(candidate);
      trial.figures.faults *= 1 + 0.01 * static_cast<double>(random.below(100)) / 100;
      trial.figures.idle_bytes = *trial.figures.idle_bytes * (1 + 0.08 * static_cast<double>(random.below(100)) / 100);
      trial.figures.idle_measure = IdleMeasure::kMean;
      return trial;
    };
    const FrontierResult found =
        search_frontier(levers.candidates, levers.axes, {}, run, [](const std::string&, std::size_t) {});
    if (found.search.winner == levers.axes[0].candidates[4]) ++same;
  }
  EXPECT_GE(same, 48U);
}

TEST(Frontier, AnUnusualRunDoesNotDecideBetweenEqualSettings) {
  Levers levers;
  levers.add(6, {}, {.cpu = 0.5}, 2);
  levers.add(4, {}, {.cpu = 0.5});
  for (Effect& effect : levers.effects) effect.idle = 1;
  unsigned same = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SimulatedProgram program(levers.effects, 0.02, seed);
    Random random(seed);
    const auto run = [&](std::size_t candidate) {
      Trial trial = program(candidate);
      if (random.below(8) != 0) return trial;
      trial.figures.peak_bytes *= 0.9;  // as of a server whose threads happen to share an arena
      trial.figures.idle_bytes = *trial.figures.idle_bytes * 0.9;
      return trial;
    };
    const FrontierResult found =
        search_frontier(levers.candidates, levers.axes, {}, run, [](const std::string&, std::size_t) {});
    if (found.search.winner == levers.axes[1].candidates[4]) ++same;
  }
  EXPECT_GE(same, 45U);
}

}  // namespace
}  // namespace zerotax::advise
