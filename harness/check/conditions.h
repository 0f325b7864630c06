#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "check/baseline.h"

namespace zerotax::check {

/// A condition that is not the same for a baseline and a new measurement, or not known for the baseline.
struct ConditionDifference {
  std::string name;    ///< in words: "kernel", "page size", "transparent huge
                       ///< pages", "CPUs", "zerotax"
  std::string before;  ///< in words; "unknown" in a baseline of an earlier version
  std::string after;
  bool may_explain = false;  ///< whether it could explain a change that was found; never if it is unknown
  std::string sentence;      ///< "kernel: 6.1.0 before, 6.18.44 now: may explain
                             ///< other faults and system calls."
};

/// What differs between two `measured_on`. With changes, each says whether it could explain any of them.
std::vector<ConditionDifference> differing_conditions(const Json& before, const Json& after,
                                                      const std::vector<BaselineChange>& changes);

}  // namespace zerotax::check
