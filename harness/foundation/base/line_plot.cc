#include "base/line_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/plot_axis.h"
#include "base/printable.h"
#include "base/units.h"

namespace zerotax {
namespace {

constexpr std::size_t kRows = 16;
constexpr std::size_t kLongestLabel = 22;
/// Narrower than this, the lines themselves would have no room.
constexpr std::size_t kFewestCells = 24;
constexpr double kRowsForText = 2;

/// Each line has a mark of its own shape, so that lines can be distinguished without colour.
const std::string& mark_of(std::size_t line, bool unicode) {
  static const std::array<std::string, 10> kShapes{"●", "▲", "■", "◆", "▼", "○", "△", "□", "◇", "▽"};
  static const std::array<std::string, 10> kLetters{"o", "x", "*", "+", "#", "@", "%", "&", "$", "="};
  return (unicode ? kShapes : kLetters)[line % kShapes.size()];
}

bool is_shown(const PlotLine::Place& place) { return place.bytes > 0 && place.ns > 0; }

struct Range {
  double low = 0;
  double high = 0;
  void take(double value) {
    low = low == 0 ? value : std::min(low, value);
    high = std::max(high, value);
  }
};

/// The name of a line right beside its last point; where there is no room, with its mark in the margin, in the nearest
/// row that is free.
void put_label(PlotCanvas& canvas, std::ptrdiff_t column, std::ptrdiff_t row, std::ptrdiff_t margin,
               const std::string& mark, const std::string& label) {
  const std::size_t cells = characters_of(label).size() + 1;
  if (canvas.is_free(column, row, cells)) return canvas.write(column + 1, row, label);
  for (std::ptrdiff_t off = 0; off < static_cast<std::ptrdiff_t>(kRows); ++off) {
    for (const std::ptrdiff_t at : {row - off, row + off}) {
      if (at >= static_cast<std::ptrdiff_t>(kRows) || !canvas.is_free(margin, at, cells)) continue;
      return canvas.write(margin, at, mark + label);
    }
  }
}

/// A plot in the making: where things stand.
struct Layout {
  LogAxis sizes;
  LogAxis times;
  std::size_t left;  ///< columns before the area, the axis of times among them

  [[nodiscard]] double column(double bytes) const { return static_cast<double>(left) + sizes.place(bytes); }
  [[nodiscard]] double row(double ns) const { return static_cast<double>(kRows - 1) - times.place(ns); }
};

void draw_times(PlotCanvas& canvas, const Layout& layout) {
  const bool unicode = canvas.style().unicode;
  const auto axis = static_cast<std::ptrdiff_t>(layout.left) - 1;
  for (std::size_t row = 0; row < kRows; ++row) canvas.put(axis, static_cast<std::ptrdiff_t>(row), unicode ? "│" : "|");
  canvas.put(axis, kRows, unicode ? "└" : "+");
  for (const AxisTick& tick : layout.times.ticks(10, format_ns, [](const std::string&) { return kRowsForText; })) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(kRows) - 1 - std::llround(tick.place);
    const auto width = static_cast<std::ptrdiff_t>(characters_of(tick.text).size());
    canvas.write(axis - 1 - width, row, tick.text);
    canvas.put(axis, row, unicode ? "┤" : "+");
  }
}

std::string shortened_label(const std::string& label, bool unicode) {
  const std::vector<std::string> characters = characters_of(label);
  if (characters.size() <= kLongestLabel) return label;
  std::string text;
  for (std::size_t i = 0; i + 1 < kLongestLabel; ++i) text += characters[i];
  return text + (unicode ? "…" : "~");
}

}  // namespace

std::string line_plot(const std::string& title, const std::string& size_title, const std::string& time_title,
                      const std::vector<PlotLine>& lines, const PlotStyle& style) {
  Range sizes;
  Range times;
  std::size_t label_cells = 0;
  for (const PlotLine& line : lines) {
    label_cells = std::max(label_cells, std::min(characters_of(printable(line.label)).size(), kLongestLabel));
    for (const auto& piece : line.pieces) {
      for (const PlotLine::Place& place : piece) {
        if (!is_shown(place)) continue;
        sizes.take(place.bytes);
        times.take(place.ns);
      }
    }
  }
  if (sizes.high == 0) return "";
  // The widest time is like "1.23 ms"; then a blank, and the axis. A label has a blank before it.
  constexpr std::size_t kLeft = 9;
  const std::size_t taken = kLeft + label_cells + 1;
  const std::size_t cells = std::max(kFewestCells, style.columns > taken ? style.columns - taken : 0);
  const Layout layout{{sizes.low, sizes.high, cells}, {times.low, times.high, kRows}, kLeft};
  PlotCanvas canvas(style.columns, kRows + 3, style);
  draw_times(canvas, layout);
  draw_axis(canvas, layout.sizes, kLeft, kRows, size_title, 2, size_on_axis);
  for (const PlotLine& line : lines) {
    for (const auto& piece : line.pieces) {
      for (std::size_t i = 1; i < piece.size(); ++i) {
        if (!is_shown(piece[i - 1]) || !is_shown(piece[i])) continue;
        canvas.line(layout.column(piece[i - 1].bytes), layout.row(piece[i - 1].ns), layout.column(piece[i].bytes),
                    layout.row(piece[i].ns));
      }
    }
  }
  std::vector<std::optional<PlotLine::Place>> ends(lines.size());
  for (std::size_t n = 0; n < lines.size(); ++n) {
    for (const auto& piece : lines[n].pieces) {
      for (const PlotLine::Place& place : piece) {
        if (!is_shown(place)) continue;
        canvas.put(std::llround(layout.column(place.bytes)), std::llround(layout.row(place.ns)),
                   mark_of(n, style.unicode));
        ends[n] = place;
      }
    }
  }
  const auto margin = static_cast<std::ptrdiff_t>(kLeft + cells);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    if (!ends[n]) continue;
    const std::ptrdiff_t column = std::llround(layout.column(ends[n]->bytes)) + 1;
    put_label(canvas, column, std::llround(layout.row(ends[n]->ns)), margin, mark_of(n, style.unicode),
              shortened_label(printable(lines[n].label), style.unicode));
  }
  return plain_for(style, title + "\n" + time_title + "\n") + canvas.text();
}

}  // namespace zerotax
