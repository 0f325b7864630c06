#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/plot_canvas.h"

namespace zerotax {

/// A line of a plot: pieces of points, sorted by size. The points of a piece are joined. Two pieces are not joined,
/// because the behavior changes or is unknown between them.
struct PlotLine {
  std::string label;
  struct Place {
    double bytes;
    double ns;
  };
  std::vector<std::vector<Place>> pieces;
};

/// Plots times in nanoseconds over sizes in bytes, on two logarithmic axes. Each point shows its line's mark, and the
/// line's label is beside its last point. Points at or below 0 are omitted. Returns "" if there is nothing to draw. The
/// plot is at most style.columns wide.
std::string line_plot(const std::string& title, const std::string& size_title, const std::string& time_title,
                      const std::vector<PlotLine>& lines, const PlotStyle& style);

/// One row of a map over sizes: pieces, each of a kind, and the sizes at which behavior changes.
struct PlotStrip {
  struct Piece {
    std::uint64_t from_bytes;
    std::uint64_t to_bytes;  ///< last size of the piece
    std::size_t kind;        ///< index into the kinds of the plot
  };
  std::string label;
  std::vector<Piece> pieces;
  std::vector<std::uint64_t> marks;
};

/// A kind of piece: its character and its words in the legend.
struct PlotKind {
  const char* block;   ///< the character of a cell in Unicode
  const char* letter;  ///< the character of a cell in ASCII
  std::string words;
};

/// Draws a map with one row per strip over a logarithmic axis of sizes, a mark at each change, and a legend. A cell
/// shows the kind at its center. The legend has the kinds that occur. Returns "" if there is nothing to draw. The map
/// is at most style.columns wide.
std::string strip_plot(const std::string& title, const std::string& size_title, const std::vector<PlotStrip>& strips,
                       const std::vector<PlotKind>& kinds, const PlotStyle& style);

/// One row of a plot of ratios: an estimate with its interval.
struct PlotInterval {
  std::string label;
  std::optional<double> ratio;  ///< above 0; if absent, the row shows only its word
  std::optional<double> low;    ///< above 0; `low` and `high` are both present or both absent
  std::optional<double> high;
  std::string word;  ///< a word to print at the end of the row
};

/// Plots ratios as points with their intervals on a logarithmic axis. A line from top to bottom marks 1; ratios below 1
/// mean that NEW is less. Returns "" if no row has a ratio. The plot is at most style.columns wide.
std::string interval_plot(const std::string& title, const std::string& ratio_title,
                          const std::vector<PlotInterval>& rows, const PlotStyle& style);

}  // namespace zerotax
