#include "base/plot_canvas.h"

#include <algorithm>
#include <cmath>

#include "base/printable.h"

namespace zerotax {
namespace {

constexpr int kDotsAcross = 2;
constexpr int kDotsDown = 4;

/// A character of the block "Braille Patterns" (U+2800 to U+28FF) in UTF-8.
std::string braille(std::uint8_t dots) {
  return {'\xE2', static_cast<char>(0xA0 | (dots >> 6)), static_cast<char>(0x80 | (dots & 0x3F))};
}

}  // namespace

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (const char byte : text) {
    const bool continues = (static_cast<unsigned char>(byte) & 0xC0U) == 0x80;
    if (continues && !characters.empty()) {
      characters.back() += byte;
    } else {
      characters.emplace_back(1, byte);
    }
  }
  return characters;
}

std::string plain_for(const PlotStyle& style, std::string_view raw) {
  const std::string text = printable_lines(raw);
  if (style.unicode) return text;
  std::string plain;
  for (const std::string& character : characters_of(text)) {
    plain += character.size() == 1 ? character : character == "µ" ? "u" : "?";
  }
  return plain;
}

PlotCanvas::PlotCanvas(std::size_t columns, std::size_t rows, const PlotStyle& style)
    : columns_(columns), rows_(rows), style_(style), cells_(columns * rows) {}

bool PlotCanvas::inside(std::ptrdiff_t column, std::ptrdiff_t row) const {
  return column >= 0 && row >= 0 && column < static_cast<std::ptrdiff_t>(columns_) &&
         row < static_cast<std::ptrdiff_t>(rows_);
}

const PlotCanvas::Cell& PlotCanvas::at(std::ptrdiff_t column, std::ptrdiff_t row) const {
  return cells_[static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column)];
}

PlotCanvas::Cell& PlotCanvas::at(std::ptrdiff_t column, std::ptrdiff_t row) {
  return cells_[static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column)];
}

void PlotCanvas::put(std::ptrdiff_t column, std::ptrdiff_t row, std::string_view character) {
  if (inside(column, row)) at(column, row).character = plain_for(style_, character);
}

void PlotCanvas::write(std::ptrdiff_t column, std::ptrdiff_t row, std::string_view text, std::size_t most) {
  for (const std::string& character : characters_of(printable(text))) {
    if (most-- == 0) return;
    put(column++, row, character);
  }
}

bool PlotCanvas::is_free(std::ptrdiff_t column, std::ptrdiff_t row, std::size_t cells) const {
  for (std::size_t i = 0; i < cells; ++i, ++column) {
    if (!inside(column, row) || !at(column, row).character.empty() || at(column, row).dots != 0) return false;
  }
  return true;
}

void PlotCanvas::dot(double column, double row) {
  const auto x = static_cast<std::ptrdiff_t>(std::floor(column));
  const auto y = static_cast<std::ptrdiff_t>(std::floor(row));
  if (!inside(x, y)) return;
  const int across = std::clamp(static_cast<int>((column - std::floor(column)) * kDotsAcross), 0, kDotsAcross - 1);
  const int down = std::clamp(static_cast<int>((row - std::floor(row)) * kDotsDown), 0, kDotsDown - 1);
  // Dots 1 to 3 and 7 are on the left, 4 to 6 and 8 on the right.
  constexpr std::uint8_t kDots[kDotsAcross][kDotsDown] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
  at(x, y).dots |= kDots[across][down];
}

void PlotCanvas::line(double from_column, double from_row, double to_column, double to_row) {
  const double across = to_column - from_column;
  const double down = to_row - from_row;
  const auto steps = static_cast<std::size_t>(
      std::max({std::ceil(std::fabs(across) * kDotsAcross), std::ceil(std::fabs(down) * kDotsDown), 1.0}));
  for (std::size_t step = 0; step <= steps; ++step) {
    const double part = static_cast<double>(step) / static_cast<double>(steps);
    dot(from_column + across * part + 0.5, from_row + down * part + 0.5);
  }
}

std::string PlotCanvas::text() const {
  std::string text;
  for (std::size_t row = 0; row < rows_; ++row) {
    std::string line;
    for (std::size_t column = 0; column < columns_; ++column) {
      const Cell& cell = cells_[row * columns_ + column];
      if (!cell.character.empty()) {
        line += cell.character;
      } else if (cell.dots != 0) {
        line += style_.unicode ? braille(cell.dots) : ".";
      } else {
        line += ' ';
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace zerotax
