#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/plot_canvas.h"

namespace zerotax {

/// A line of a plot: pieces of points, in the order of their sizes. Points of a piece are joined; pieces are not, for
/// between them something changes, or is not known.
struct PlotLine {
  std::string label;
  struct Place {
    double bytes;
    double ns;
  };
  std::vector<std::vector<Place>> pieces;
};

/// Times in nanoseconds over sizes in bytes, both axes logarithmic: each point is its line's mark, and its last has the
/// label beside it. Places at or below 0 are left out. Empty if there is nothing to draw. At most style.columns wide.
std::string line_plot(const std::string& title, const std::string& size_title, const std::string& time_title,
                      const std::vector<PlotLine>& lines, const PlotStyle& style);

}  // namespace zerotax
