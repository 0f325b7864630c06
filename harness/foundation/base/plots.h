#pragma once

#include <cstdint>
#include <optional>
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

/// One row of a map over sizes: pieces, each of a kind, and the sizes at which something changes.
struct PlotStrip {
  struct Piece {
    std::uint64_t from_bytes;
    std::uint64_t to_bytes;  ///< the last size of it
    std::size_t kind;        ///< in the kinds of the plot
  };
  std::string label;
  std::vector<Piece> pieces;
  std::vector<std::uint64_t> marks;
};

/// A kind of piece: how its cells look, and its words in the legend.
struct PlotKind {
  const char* block;   ///< in Unicode
  const char* letter;  ///< in ASCII
  std::string words;
};

/// A map: a row for each strip over a logarithmic axis of sizes, a mark where it changes, a legend of the kinds that
/// occur. A cell shows what holds in its middle. Empty if there is nothing to draw. At most style.columns wide.
std::string strip_plot(const std::string& title, const std::string& size_title, const std::vector<PlotStrip>& strips,
                       const std::vector<PlotKind>& kinds, const PlotStyle& style);

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
