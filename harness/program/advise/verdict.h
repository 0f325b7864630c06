#pragma once

#include <string>

#include "advise/advice.h"

namespace zerotax::advise {

/// What came of one remedy: "FASTER", "SLOWER" ("LESS", "MORE" where the goal is no time), "SAME", "AMBIGUOUS",
/// "FAILED", "CHANGED OUTPUT"; empty if it was not tried.
std::string remedy_verdict(const Advice& advice, std::size_t remedy);

/// The ratio of a figure under a remedy to that in the present state.
Measured<Ratio> remedy_ratio(const Advice& advice, std::size_t remedy, Goal goal);

/// The confirmation of a remedy, or nullptr.
const Confirmation* confirmation_of(const Advice& advice, std::size_t remedy);

/// The verdict on one goal of a finished confirmation.
inline const TimeVerdict& verdict_of(const Confirmation& confirmation, Goal goal) {
  return confirmation.verdicts[static_cast<std::size_t>(goal)];
}

Recommendation recommendation(const Advice& advice);

}  // namespace zerotax::advise
