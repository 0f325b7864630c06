#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/plot_canvas.h"

namespace zerotax {

/// One row of a plot of ratios: an estimate, and the interval that it lies in.
struct PlotInterval {
  std::string label;
  std::optional<double> ratio;  ///< above 0; nothing: the row has its word alone
  std::optional<double> low;    ///< both or none, above 0
  std::optional<double> high;
  std::string word;  ///< at the end of the row
};

/// Ratios as points with their intervals on a logarithmic axis, 1 marked by a line from top to bottom: below it NEW is
/// less. Empty if no row has a ratio. At most style.columns wide.
std::string interval_plot(const std::string& title, const std::string& ratio_title,
                          const std::vector<PlotInterval>& rows, const PlotStyle& style);

}  // namespace zerotax
