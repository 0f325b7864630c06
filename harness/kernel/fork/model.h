#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "fork/study.h"

namespace zerotax::fork {

/// What fork costs for each thing that a process has.
struct ForkTerm {
  const char* key;   ///< in JSON
  std::string name;  ///< for people, as in "each page of 4 KiB"
};
inline constexpr std::size_t kForkTerms = 6;
const std::array<ForkTerm, kForkTerms>& fork_terms();  ///< the fixed part first

/// A place of the sweep, and the model's prediction for it.
struct ForkPrediction {
  const ForkPlace* place;
  double measured_ns;
  double predicted_ns;
  [[nodiscard]] double error() const { return predicted_ns / measured_ns - 1; }
};

/// fork's time as a sum: a fixed part, and so much for each page, huge page, mapping, descriptor and thread.
struct ForkModel {
  std::string not_fitted;                ///< why there is no model; empty if there is one
  std::array<bool, kForkTerms> known{};  ///< false: no process had any (huge pages, say)
  std::array<double, kForkTerms> ns{};
  std::string no_interval;                      ///< why there are no intervals; empty: there are
  std::array<Interval, kForkTerms> interval{};  ///< 95 %
  double r_squared = 0;                         ///< weighted by relative errors; 1 is a perfect fit
  std::vector<ForkPrediction> fit;              ///< of the places that it was fitted to
  std::vector<ForkPrediction> held;             ///< of those that were held back
};

/// Least squares of the relative errors over the places that are not held back: a page must count as much in a small
/// process as in a large one. Each place is the median of its rounds; the intervals are bootstrapped over the rounds
/// (1000 resamples, percentile). The model keeps pointers into `places`.
ForkModel fit_fork_model(const std::vector<ForkPlace>& places);

/// The model's prediction for a process, in nanoseconds.
double predict_fork(const ForkModel& model, const ForkTargetFacts& facts);

/// The time of a plain fork of one process, as one part of the study measured it.
struct ForkEstimate {
  std::string part;  ///< "clone flags", "between samples", "end of the visit", "sweep", "other ways"
  double ns = 0;     ///< median
};

/// Medians that are further apart than this contradict each other: on a quiet machine those of one process differ by a
/// tenth.
inline constexpr double kMostApart = 1.25;

/// Of one visit to the process: before, during and after the samples.
std::vector<ForkEstimate> visit_estimates(const ForkProcess& process);

/// These, and those of the same size elsewhere in the study.
std::vector<ForkEstimate> all_estimates(const ForkProcess& process, const ForkData& data);

/// The largest divided by the smallest; 1 of fewer than two.
double apart(const std::vector<ForkEstimate>& estimates);

}  // namespace zerotax::fork
