#pragma once

#include <string>
#include <vector>

#include "fork/study.h"

namespace zerotax::fork {

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
