#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zerotax {

/// The characters and width that a plot in a terminal may use.
struct PlotStyle {
  std::size_t columns = 80;
  bool unicode = false;  ///< whether to use blocks and braille dots, not only ASCII
};

/// Returns the characters of UTF-8 text, one string each.
std::vector<std::string> characters_of(std::string_view text);

/// Returns text that the style can show. For ASCII, µ becomes u, and every other missing character becomes ?.
std::string plain_for(const PlotStyle& style, std::string_view text);

/// A grid of characters to draw shapes and text on. Columns and rows count from 0 at the top left. Anything outside the
/// grid is omitted.
class PlotCanvas {
 public:
  PlotCanvas(std::size_t columns, std::size_t rows, const PlotStyle& style);

  /// Puts one character into a cell.
  void put(std::ptrdiff_t column, std::ptrdiff_t row, std::string_view character);
  /// Writes text from a cell to the right, at most `most` characters.
  void write(std::ptrdiff_t column, std::ptrdiff_t row, std::string_view text, std::size_t most = SIZE_MAX);
  /// Whether all of these cells are inside the grid and empty.
  [[nodiscard]] bool is_free(std::ptrdiff_t column, std::ptrdiff_t row, std::size_t cells) const;
  /// Draws a straight line between the centers of two cells, beneath everything else in the cells. The line consists of
  /// braille dots (Unicode block "Braille Patterns", two by four dots per cell), or of periods in ASCII.
  void line(double from_column, double from_row, double to_column, double to_row);

  [[nodiscard]] const PlotStyle& style() const { return style_; }
  /// Returns the rows, each ended by a line break, without trailing blanks.
  [[nodiscard]] std::string text() const;

 private:
  struct Cell {
    std::string character;  ///< the character in this cell; if empty, the dots of lines are shown
    std::uint8_t dots = 0;  ///< dots of the lines in this cell, one bit for each dot of a braille character
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

/// Formats a value of an axis: "64 KiB", "1 ms".
using AxisText = std::function<std::string(double value)>;

/// The text of a value on an axis, and its place in cells from the beginning of the axis.
struct AxisTick {
  double place;
  std::string text;
};

/// A logarithmic axis over a number of cells. Both ends are above 0. An axis of a single value is extended on both
/// sides.
class LogAxis {
 public:
  LogAxis(double low, double high, std::size_t cells);

  /// Returns the position in cells from the beginning: 0 is the center of the first cell, and cells - 1 the center of
  /// the last. Values outside the axis yield positions outside this range.
  [[nodiscard]] double place(double value) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] std::size_t cells() const { return cells_; }

  /// Returns ticks at powers of `base`: all, or every second, third, and so on, so that texts of `room(text)` cells do
  /// not overlap. If fewer than two ticks remain, returns the ends of the axis.
  [[nodiscard]] std::vector<AxisTick> ticks(double base, const AxisText& text,
                                            const std::function<double(const std::string& text)>& room) const;

 private:
  double low_;
  double high_;
  std::size_t cells_;
};

/// Draws a horizontal axis in three rows: a rule in `row` from column `left`, the tick texts, and the centered `title`.
/// Ticks are at powers of `base` that have room.
void draw_axis(PlotCanvas& canvas, const LogAxis& axis, std::size_t left, std::size_t row, const std::string& title,
               double base, const AxisText& text);

/// Formats a size in bytes for an axis: "64 KiB".
std::string size_on_axis(double bytes);

}  // namespace zerotax
