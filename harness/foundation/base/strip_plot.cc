#include "base/strip_plot.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/plot_axis.h"
#include "base/printable.h"

namespace zerotax {
namespace {

constexpr std::size_t kLongestLabel = 30;
constexpr std::size_t kFewestCells = 24;

/// The size in the middle of a cell.
double middle_of(const LogAxis& axis, std::size_t cell) {
  const double part = static_cast<double>(cell) / static_cast<double>(axis.cells() - 1);
  return axis.low() * std::pow(axis.high() / axis.low(), part);
}

void draw_strip(PlotCanvas& canvas, const LogAxis& axis, std::size_t left, std::size_t row, const PlotStrip& strip,
                const std::vector<PlotKind>& kinds) {
  const bool unicode = canvas.style().unicode;
  const auto y = static_cast<std::ptrdiff_t>(row);
  for (std::size_t cell = 0; cell < axis.cells(); ++cell) {
    // The ends of the axis are sizes themselves: a rounding error must not leave them out.
    const auto size = static_cast<std::uint64_t>(std::llround(middle_of(axis, cell)));
    for (const PlotStrip::Piece& piece : strip.pieces) {
      if (size < piece.from_bytes || size > piece.to_bytes) continue;
      const PlotKind& kind = kinds.at(piece.kind);
      canvas.put(static_cast<std::ptrdiff_t>(left + cell), y, unicode ? kind.block : kind.letter);
    }
  }
  for (const std::uint64_t mark : strip.marks) {
    canvas.put(static_cast<std::ptrdiff_t>(left) + std::llround(axis.place(static_cast<double>(mark))), y,
               unicode ? "│" : "|");
  }
}

/// "█ zeroes needlessly   │ changes here", in lines that fit.
std::string legend(const std::vector<PlotStrip>& strips, const std::vector<PlotKind>& kinds, const PlotStyle& style) {
  std::set<std::size_t> used;
  bool marked = false;
  for (const PlotStrip& strip : strips) {
    for (const PlotStrip::Piece& piece : strip.pieces) used.insert(piece.kind);
    marked = marked || !strip.marks.empty();
  }
  std::vector<std::string> entries;
  entries.reserve(used.size() + 1);
  for (const std::size_t kind : used) {
    entries.push_back(std::string(style.unicode ? kinds.at(kind).block : kinds.at(kind).letter) + " " +
                      kinds.at(kind).words);
  }
  if (marked) entries.emplace_back(style.unicode ? "│ changes here" : "| changes here");
  std::string text;
  std::size_t width = 0;
  for (const std::string& entry : entries) {
    constexpr std::size_t kBetween = 3;
    const std::size_t cells = characters_of(entry).size();
    const bool fits = width != 0 && width + kBetween + cells <= style.columns;
    text += width == 0 ? "" : fits ? std::string(kBetween, ' ') : "\n";
    width = fits ? width + kBetween + cells : cells;
    text += entry;
  }
  return text + "\n";
}

}  // namespace

std::string strip_plot(const std::string& title, const std::string& size_title, const std::vector<PlotStrip>& strips,
                       const std::vector<PlotKind>& kinds, const PlotStyle& style) {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::size_t label_cells = 0;
  for (const PlotStrip& strip : strips) {
    label_cells = std::max(label_cells, std::min(characters_of(printable(strip.label)).size(), kLongestLabel));
    for (const PlotStrip::Piece& piece : strip.pieces) {
      low = low == 0 ? piece.from_bytes : std::min(low, piece.from_bytes);
      high = std::max(high, piece.to_bytes);
    }
  }
  if (high == 0) return "";
  const std::size_t left = label_cells + 1;
  // The last column stays free, for the half of a tick's text.
  const std::size_t cells = std::max(kFewestCells, style.columns > left + 2 ? style.columns - left - 2 : 0);
  const LogAxis axis(static_cast<double>(low), static_cast<double>(high), cells);
  PlotCanvas canvas(style.columns, strips.size() + 3, style);
  for (std::size_t row = 0; row < strips.size(); ++row) {
    canvas.write(0, static_cast<std::ptrdiff_t>(row), strips[row].label, label_cells);
    draw_strip(canvas, axis, left, row, strips[row], kinds);
  }
  draw_axis(canvas, axis, left, strips.size(), size_title, 2, size_on_axis);
  return plain_for(style, title + "\n") + canvas.text() + plain_for(style, legend(strips, kinds, style));
}

}  // namespace zerotax
