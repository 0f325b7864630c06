#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "thresholds/map.h"

namespace zerotax::thresholds {

/// Returns the answer: the number of thresholds, those that change what later calls zero, and the most costly one.
/// `words` are as in next_step().
Answer answer(const Thresholds& thresholds, const std::vector<std::string>& words = {});

}  // namespace zerotax::thresholds
