#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "advise/search.h"
#include "base/statistics.h"

namespace zerotax::advise {

/// The effect of a simulated remedy on a program's metrics.
struct Effect {
  double cpu = 1;  ///< CPU time as a multiple of the unchanged program's
  double memory = 1;
  Trial::End end = Trial::End::kOk;
  std::optional<double> first_cpu = std::nullopt;  ///< CPU time of the first run, if it is different
  double idle = 1;                                 ///< memory at idle
};

/// A simulated program whose metrics are random, with drifts and outliers like those of a busy machine.
class SimulatedProgram {
 public:
  SimulatedProgram(std::vector<Effect> effects, double noise, std::uint64_t seed)
      : effects_(std::move(effects)), noise_(noise), random_(seed) {}

  Trial operator()(std::size_t candidate) {
    const bool is_first = ++runs_[candidate] == 1;
    Effect effect = candidate == kPresent ? Effect{} : effects_[candidate];
    if (is_first && effect.first_cpu) effect.cpu = *effect.first_cpu;
    // The machine slows down and speeds up over many runs.
    drift_ = 0.9 * drift_ + noise_ * normal();
    const double disturbed = random_.below(20) == 0 ? 5 * noise_ * uniform() : 0;
    const double factor = std::exp(drift_ + noise_ * normal() + disturbed);
    Trial trial;
    trial.end = effect.end;
    if (effect.end == Trial::End::kFailed) trial.why = "was killed by SIGABRT";
    trial.figures = {effect.cpu * factor,  effect.cpu * factor * 1.1, 10'000 * effect.cpu,
                     50e6 * effect.memory, 40e6 * effect.idle,        IdleMeasure::kIdle};
    trial.took_s = trial.figures.wall_s;
    return trial;
  }

  [[nodiscard]] unsigned runs(std::size_t candidate) const {
    const auto found = runs_.find(candidate);
    return found == runs_.end() ? 0 : found->second;
  }

 private:
  double uniform() { return static_cast<double>(random_.below(1'000'000)) / 1e6; }
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

  std::vector<Effect> effects_;
  double noise_;
  Random random_;
  double drift_ = 0;
  std::map<std::size_t, unsigned> runs_;
};

}  // namespace zerotax::advise
