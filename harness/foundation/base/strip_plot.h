#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/plot_canvas.h"

namespace zerotax {

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

}  // namespace zerotax
