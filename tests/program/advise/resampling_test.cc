#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "advise/advice.h"
#include "advise/search.h"
#include "base/json.h"
#include "base/statistics.h"

namespace zerotax::advise {
namespace {

/// Returns the metrics of runs of real programs without any remedy (from benchmark-advise-alarms), one list per
/// program.
std::vector<std::vector<Figures>> recorded_runs() {
  std::vector<std::vector<Figures>> all;
  for (const auto& entry : std::filesystem::directory_iterator(ZEROTAX_SOURCE_DIR "/tests/program/advise/data")) {
    std::ifstream file(entry.path());
    const Json document = Json::parse(file);
    auto& runs = all.emplace_back();
    for (const Json& run : document.at("runs")) {
      runs.push_back({run.at("cpu_s"), run.at("wall_s"), run.at("faults"), run.at("peak_bytes")});
    }
  }
  return all;
}

/// Resamples stretches of successive runs, so that slow periods of the machine are preserved.
class Resampled {
 public:
  Resampled(const std::vector<Figures>& runs, std::uint64_t seed) : runs_(runs), random_(seed) {}

  Trial operator()(std::size_t /*candidate*/) {
    constexpr std::size_t kStretch = 15;
    if (left_ == 0) {
      left_ = kStretch;
      at_ = random_.below(runs_.size());
    }
    --left_;
    at_ = (at_ + 1) % runs_.size();
    return {Trial::End::kOk, "", runs_[at_]};
  }

 private:
  const std::vector<Figures>& runs_;
  Random random_;
  std::size_t left_ = 0;
  std::size_t at_ = 0;
};

/// Returns a typical number of candidates: settings, libraries, and combinations of both.
std::vector<Candidate> usual_candidates() {
  std::vector<Candidate> candidates(5, {2, false, {}, false});
  candidates.push_back({3, false, {0, 1}, true});
  candidates.push_back({3, false, {1, 2}, true});
  for (int i = 0; i < 6; ++i) {
    const std::size_t library = candidates.size();
    candidates.push_back({1, true, {}, false});
    candidates.push_back({2, true, {library}, false});
    candidates.push_back({2, true, {library}, false});
  }
  return candidates;
}

std::size_t alarms(Goal goal, double scale) {
  const auto programs = recorded_runs();
  const std::vector<Candidate> candidates = usual_candidates();
  SearchMethod method;
  method.goal = goal;
  std::size_t recommended = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    method.seed = i;
    Resampled program(programs[i % programs.size()], 1000 + i);
    const auto run = [&](std::size_t candidate) {
      Trial trial = program(candidate);
      if (candidate != kPresent) trial.figures.cpu_s *= scale;
      return trial;
    };
    if (search_remedies(candidates, method, run).winner) ++recommended;
  }
  return recommended;
}

TEST(ResampledRuns, AreOfSeveralPrograms) {
  const auto programs = recorded_runs();
  EXPECT_GE(programs.size(), 4U);
  for (const auto& runs : programs) EXPECT_GE(runs.size(), 100U);
}

TEST(ResampledRuns, OfRemediesWithoutEffectRecommendThemInOneOfAHundredAdvicesAtMost) {
  EXPECT_LE(alarms(Goal::kCpu, 1), 2U);
  EXPECT_LE(alarms(Goal::kWall, 1), 2U);
  EXPECT_LE(alarms(Goal::kFaults, 1), 2U);
  EXPECT_LE(alarms(Goal::kMemory, 1), 2U);
}

TEST(ResampledRuns, ShowAGainOfAThirdNearlyAlways) { EXPECT_GE(alarms(Goal::kCpu, 0.67), 180U); }

}  // namespace
}  // namespace zerotax::advise
