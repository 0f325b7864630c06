#include "base/plots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "base/plot_canvas.h"
#include "base/printable.h"
#include "base/units.h"

namespace zerotax {
namespace {

constexpr std::size_t kRows = 16;
constexpr std::size_t kLongestLabel = 22;
/// With fewer cells, the lines would have no room.
constexpr std::size_t kFewestCells = 24;
constexpr double kRowsForText = 2;

/// Returns the mark of a line. Each shape differs, so that lines can be distinguished without color.
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

/// Writes a line's label beside its last point. If there is no room there, writes the label and the line's mark in the
/// nearest free row of the margin.
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

/// The axes of a plot, and the place of its area.
struct Layout {
  LogAxis sizes;
  LogAxis times;
  std::size_t left;  ///< columns to the left of the plot area, including the time axis

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
  // The widest time, such as "1.23 ms", takes seven columns, followed by a blank and the axis. A blank also precedes a
  // label.
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

namespace {

constexpr std::size_t kLongestName = 30;  ///< maximum width of the label of a strip or an interval, in characters

/// Returns the size in bytes at the center of a cell.
double middle_of(const LogAxis& axis, std::size_t cell) {
  const double part = static_cast<double>(cell) / static_cast<double>(axis.cells() - 1);
  return axis.low() * std::pow(axis.high() / axis.low(), part);
}

void draw_strip(PlotCanvas& canvas, const LogAxis& axis, std::size_t left, std::size_t row, const PlotStrip& strip,
                const std::vector<PlotKind>& kinds) {
  const bool unicode = canvas.style().unicode;
  const auto y = static_cast<std::ptrdiff_t>(row);
  for (std::size_t cell = 0; cell < axis.cells(); ++cell) {
    // Rounding must not move the sizes at the ends of the axis out of their pieces.
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

/// Returns the legend in lines that fit: "█ zeroes needlessly   │ changes here".
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
    label_cells = std::max(label_cells, std::min(characters_of(printable(strip.label)).size(), kLongestName));
    for (const PlotStrip::Piece& piece : strip.pieces) {
      low = low == 0 ? piece.from_bytes : std::min(low, piece.from_bytes);
      high = std::max(high, piece.to_bytes);
    }
  }
  if (high == 0) return "";
  const std::size_t left = label_cells + 1;
  // The last column stays free for the right half of a tick's text.
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

namespace {

/// Returns the logarithm of the axis's upper end. The axis spans at least 0.5 to 2, so that a ratio of 1 does not look
/// like a difference. The axis is symmetric, so that doubling and halving are equally far from 1.
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
    label_cells = std::max(label_cells, std::min(characters_of(printable(row.label)).size(), kLongestName));
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
  // A wide axis has a tick at each decade; any other axis has one at each octave.
  const double base = reach > 100 ? 10 : 2;
  draw_axis(canvas, axis, left, rows.size(), ratio_title, base, format_number);
  return plain_for(style, title + "\n") + canvas.text();
}

}  // namespace zerotax
