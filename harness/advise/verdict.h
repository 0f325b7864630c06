#pragma once

#include <string>

#include "advise/advice.h"
#include "base/json.h"

namespace zerotax::advise {

/// What came of one remedy: "FASTER", "SLOWER" ("LESS", "MORE" where the goal is no time), "SAME", "AMBIGUOUS",
/// "FAILED", "CHANGED OUTPUT"; empty if it was not tried.
std::string remedy_verdict(const Advice& advice, std::size_t remedy);

/// The ratio of a figure under a remedy to that in the present state: {median, low, high} of its confirmation, a median
/// alone of the screening, or n/a.
Json remedy_ratio(const Advice& advice, std::size_t remedy, Goal goal);

/// The confirmation of a remedy, or nullptr.
const Confirmation* confirmation_of(const Advice& advice, std::size_t remedy);

/// What to do, in sentences: the object `recommendation` of results/schema/advise.schema.json. All that is shown of it
/// is written here.
Json recommendation(const Advice& advice);

}  // namespace zerotax::advise
