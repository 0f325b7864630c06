#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/statistics.h"
#include "fork/study.h"

namespace zerotax::fork {

/// The terms of fork's cost: a fixed part, and a part for each kind of resource of a process.
enum class ForkTerm { kFixed, kPage, kHugePage, kMapping, kDescriptor, kThread };
ENUM_WORDS(ForkTerm, "fixed", "page", "huge_page", "mapping", "descriptor", "thread")
inline constexpr std::size_t kForkTerms = 6;
/// Names for people, such as "each page of 4 KiB", in the order of ForkTerm.
const std::array<std::string, kForkTerms>& fork_term_names();

/// A process of the sweep, with its measured time and the model's prediction.
struct ForkPrediction {
  const ForkPlace* place;
  double measured_ns;
  double predicted_ns;
  [[nodiscard]] double error() const { return predicted_ns / measured_ns - 1; }
};

/// fork's time as a sum: a fixed part, and a cost for each page, huge page, mapping, descriptor and thread.
struct ForkModel {
  std::string not_fitted;                ///< reason why there is no model; empty if there is a model
  std::array<bool, kForkTerms> known{};  ///< false if no process of the sweep had this resource, such as huge pages
  std::array<double, kForkTerms> ns{};
  std::string no_interval;                      ///< reason why there are no intervals; empty if there are intervals
  std::array<Interval, kForkTerms> interval{};  ///< 95 %
  double r_squared = 0;                         ///< weighted by relative errors; 1 is a perfect fit
  std::vector<ForkPrediction> fit;              ///< processes that the model was fitted to
  std::vector<ForkPrediction> held;             ///< processes that were held back to check the model
};

/// Fits the model by least squares of relative errors, so that a page counts as much in a small process as in a large
/// one. Processes that are held back are left out. The time of a process is the median of its rounds. Intervals are
/// bootstrapped over the rounds (1000 resamples, percentile). The model keeps pointers into `places`.
ForkModel fit_fork_model(const std::vector<ForkPlace>& places);

/// The quantity of each term's resource in a process, in the order of ForkTerm.
std::array<double, kForkTerms> term_counts(const ForkTargetFacts& facts);

/// The model's prediction for a process, in nanoseconds.
double predict_fork(const ForkModel& model, const ForkTargetFacts& facts);

enum class StudyPart { kCloneFlags, kBetweenSamples, kEndOfVisit, kSweep, kOtherWays };
ENUM_WORDS(StudyPart, "clone flags", "between samples", "end of the visit", "sweep", "other ways")

struct ForkEstimate {
  RESULT("estimate", "The time of a plain fork of one process, as measured by one part of the study.");
  FIELD(StudyPart, part, "Name of the part of the study.");
  FIELD(double, ns, "Median of the forks in the part, in nanoseconds.", above(0));
};

/// Largest acceptable ratio of two medians of the same process. Medians with a larger ratio contradict each other. On a
/// quiet machine, such medians differ by up to a tenth.
inline constexpr double kMostApart = 1.25;

/// Estimates of fork's time from one visit to the process, measured before, during and after the samples.
std::vector<ForkEstimate> visit_estimates(const ForkProcess& process);

/// Estimates of fork's time from the visit, and from other parts of the study for a process of the same size.
std::vector<ForkEstimate> all_estimates(const ForkProcess& process, const ForkData& data);

/// Ratio of the largest estimate to the smallest; 1 for fewer than two estimates.
double apart(const std::vector<ForkEstimate>& estimates);

}  // namespace zerotax::fork
