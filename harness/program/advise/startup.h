#pragma once

#include <optional>

#include "advise/target.h"

namespace zerotax::advise {

/// Milliseconds that these variables add to the start and end of a program that does nothing (true(1)): the fastest of
/// 20 runs with them, less the fastest of 20 without. Nothing if there is no such program, or it was stopped.
std::optional<double> startup_cost_ms(const TargetRunner::Variables& variables);

}  // namespace zerotax::advise
