#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/table.h"
#include "os/load.h"
#include "point/typed_point.h"

namespace zerotax::study {

/// Returns the answer with the most costly points first. `next` is a command for the next step; empty if no point has a
/// finding.
Answer points_answer(const std::vector<Point>& points, const std::optional<Load>& load, const std::string& next,
                     const Palette& palette = {});

}  // namespace zerotax::study
