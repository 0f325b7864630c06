#include "base/interval_plot.h"

#include <algorithm>
#include <cmath>

#include "base/plot_axis.h"
#include "base/printable.h"
#include "base/units.h"

namespace zerotax {
namespace {

constexpr std::size_t kLongestLabel = 30;
constexpr std::size_t kFewestCells = 24;

/// So wide that a ratio of 1 is not taken for a difference: at least from a half to the double, and symmetric, so that
/// twice as much is as far from 1 as half as much.
double reach_of(const std::vector<PlotInterval>& rows) {
  double reach = std::log(2.0);
  for (const PlotInterval& row : rows) {
    for (const auto& value : {row.ratio, row.low, row.high}) {
      if (value) reach = std::max(reach, std::fabs(std::log(*value)));
    }
  }
  return reach;
}

void draw_row(PlotCanvas& canvas, const LogAxis& axis, std::size_t left, std::size_t row, const PlotInterval& shown) {
  const bool unicode = canvas.style().unicode;
  const auto y = static_cast<std::ptrdiff_t>(row);
  const auto cell = [&](double ratio) { return static_cast<std::ptrdiff_t>(left) + std::llround(axis.place(ratio)); };
  canvas.put(cell(1), y, unicode ? "┊" : ":");
  if (!shown.ratio) return;
  if (shown.low && shown.high) {
    for (std::ptrdiff_t at = cell(*shown.low); at <= cell(*shown.high); ++at) canvas.put(at, y, unicode ? "─" : "-");
    canvas.put(cell(*shown.low), y, unicode ? "├" : "|");
    canvas.put(cell(*shown.high), y, unicode ? "┤" : "|");
  }
  canvas.put(cell(*shown.ratio), y, unicode ? "●" : "o");
}

}  // namespace

std::string interval_plot(const std::string& title, const std::string& ratio_title,
                          const std::vector<PlotInterval>& rows, const PlotStyle& style) {
  if (std::none_of(rows.begin(), rows.end(), [](const PlotInterval& row) { return row.ratio.has_value(); })) return "";
  std::size_t label_cells = 0;
  std::size_t word_cells = 0;
  for (const PlotInterval& row : rows) {
    label_cells = std::max(label_cells, std::min(characters_of(printable(row.label)).size(), kLongestLabel));
    word_cells = std::max(word_cells, characters_of(row.word).size());
  }
  const std::size_t left = label_cells + 1;
  const std::size_t taken = left + 2 + word_cells;
  const std::size_t cells = std::max(kFewestCells, style.columns > taken ? style.columns - taken : 0);
  const double reach = std::exp(reach_of(rows));
  const LogAxis axis(1 / reach, reach, cells);
  PlotCanvas canvas(style.columns, rows.size() + 3, style);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    canvas.write(0, static_cast<std::ptrdiff_t>(row), rows[row].label, label_cells);
    draw_row(canvas, axis, left, row, rows[row]);
    canvas.write(static_cast<std::ptrdiff_t>(left + cells + 1), static_cast<std::ptrdiff_t>(row), rows[row].word);
  }
  // Few octaves: each has its mark. Many decades: those.
  const double base = reach > 100 ? 10 : 2;
  draw_axis(canvas, axis, left, rows.size(), ratio_title, base, format_number);
  return plain_for(style, title + "\n") + canvas.text();
}

}  // namespace zerotax
