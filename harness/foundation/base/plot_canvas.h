#pragma once

#include <cstdint>
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

}  // namespace zerotax
