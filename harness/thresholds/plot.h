#pragma once

#include <string>

#include "base/json.h"
#include "base/plot_canvas.h"

namespace zerotax::thresholds {

/// The map of an object of "zerotax.thresholds/1" for a terminal: a row for each lane, what later callocs do at each
/// size, and a mark at every size where that changes. A worker thread has a row of its own only where it differs from
/// the main thread. Empty if no lane was searched.
std::string thresholds_plot(const Json& document, const PlotStyle& style);

/// What goes on from thresholds, as a command to paste: what the first at which a calloc becomes more costly means in
/// time, by measuring the sizes on both sides of it. Empty if there is none.
std::string next_step(const Json& document);

}  // namespace zerotax::thresholds
