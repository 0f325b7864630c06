#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zerotax {

/// What a picture for a terminal may use.
struct PlotStyle {
  std::size_t columns = 80;
  bool unicode = false;  ///< blocks and braille dots; else ASCII alone
};

/// The characters of UTF-8 text, one string each.
std::vector<std::string> characters_of(std::string_view text);

/// Text as a style can show it: in ASCII, µ is u, and whatever else is missing is ?.
std::string plain_for(const PlotStyle& style, std::string_view text);

/// A grid of characters that shapes and words are put into. Columns and rows count from 0 at the top left; what lies
/// outside is left out.
class PlotCanvas {
 public:
  PlotCanvas(std::size_t columns, std::size_t rows, const PlotStyle& style);

  /// One character in a cell.
  void put(std::ptrdiff_t column, std::ptrdiff_t row, std::string_view character);
  /// Text from a cell on, to the right; no more than so many characters of it.
  void write(std::ptrdiff_t column, std::ptrdiff_t row, std::string_view text, std::size_t most = SIZE_MAX);
  /// Whether nothing stands in so many cells, and all of them are inside.
  [[nodiscard]] bool is_free(std::ptrdiff_t column, std::ptrdiff_t row, std::size_t cells) const;
  /// A straight line between the middles of two cells, below what else stands there: of braille dots (Unicode, block
  /// "Braille Patterns": two by four dots a cell), or of points.
  void line(double from_column, double from_row, double to_column, double to_row);

  [[nodiscard]] const PlotStyle& style() const { return style_; }
  /// The rows, each ended by a line break, without blanks at their ends.
  [[nodiscard]] std::string text() const;

 private:
  struct Cell {
    std::string character;  ///< empty: what the line leaves there
    std::uint8_t dots = 0;  ///< of a line, as braille counts them
  };

  void dot(double column, double row);
  [[nodiscard]] bool inside(std::ptrdiff_t column, std::ptrdiff_t row) const;
  [[nodiscard]] const Cell& at(std::ptrdiff_t column, std::ptrdiff_t row) const;
  Cell& at(std::ptrdiff_t column, std::ptrdiff_t row);

  std::size_t columns_;
  std::size_t rows_;
  PlotStyle style_;
  std::vector<Cell> cells_;
};

/// Writes a value of an axis: "64 KiB", "1 ms".
using AxisText = std::function<std::string(double value)>;

/// The text for a value on an axis, and its place, in cells from the beginning of the axis.
struct AxisTick {
  double place;
  std::string text;
};

/// A logarithmic axis over a number of cells. Both ends are above 0; an axis of one value reaches a little beyond it.
class LogAxis {
 public:
  LogAxis(double low, double high, std::size_t cells);

  /// In cells from the beginning: 0 is the middle of the first, cells - 1 that of the last. Beyond them, less or more.
  [[nodiscard]] double place(double value) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] std::size_t cells() const { return cells_; }

  /// Powers of `base`, all or every second, third, ..., so that `room(text)` cells for each do not meet. Where that
  /// leaves fewer than two, the ends of the axis.
  [[nodiscard]] std::vector<AxisTick> ticks(double base, const AxisText& text,
                                            const std::function<double(const std::string& text)>& room) const;

 private:
  double low_;
  double high_;
  std::size_t cells_;
};

/// Draws a horizontal axis: a rule over its cells in `row`, from column `left` on, with a mark at each power of `base`
/// that has room; its text below, and `title` below that, in the middle. Three rows.
void draw_axis(PlotCanvas& canvas, const LogAxis& axis, std::size_t left, std::size_t row, const std::string& title,
               double base, const AxisText& text);

/// Sizes in bytes for an axis: "64 KiB".
std::string size_on_axis(double bytes);

}  // namespace zerotax
