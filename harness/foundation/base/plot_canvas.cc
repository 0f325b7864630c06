#include "base/plot_canvas.h"

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "base/units.h"

namespace zerotax {
namespace {

constexpr int kDotsAcross = 2;
constexpr int kDotsDown = 4;

/// Returns a character of the block "Braille Patterns" (U+2800 to U+28FF) in UTF-8.
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
  std::string text = printable_lines(raw);
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

namespace {

/// Returns the cells of a text, including the blank that separates it from the next text.
double across(const std::string& text) { return static_cast<double>(characters_of(text).size()) + 1; }

}  // namespace

LogAxis::LogAxis(double low, double high, std::size_t cells) : low_(low), high_(high), cells_(cells) {
  // An axis of a single value would have no scale, so it spans two octaves with the value in the middle.
  if (high_ <= low_) {
    low_ = low / 2;
    high_ = low * 2;
  }
}

double LogAxis::place(double value) const {
  return std::log(value / low_) / std::log(high_ / low_) * static_cast<double>(cells_ - 1);
}

std::vector<AxisTick> LogAxis::ticks(double base, const AxisText& text,
                                     const std::function<double(const std::string& text)>& room) const {
  constexpr double kRounding = 1e-9;
  const int first = static_cast<int>(std::ceil(std::log(low_) / std::log(base) - kRounding));
  const int last = static_cast<int>(std::floor(std::log(high_) / std::log(base) + kRounding));
  for (int step = 1; step <= std::max(1, last - first); ++step) {
    std::vector<AxisTick> ticks;
    bool meet = false;
    for (int power = first; power <= last && !meet; ++power) {
      // Only multiples of `step` are used, so that the choice of powers does not depend on the ends of the axis.
      if (power % step != 0) continue;
      const double value = std::pow(base, power);
      AxisTick tick{place(value), text(value)};
      meet = !ticks.empty() && tick.place - ticks.back().place < (room(tick.text) + room(ticks.back().text)) / 2;
      ticks.push_back(std::move(tick));
    }
    if (!meet && ticks.size() > 1) return ticks;
  }
  return {{0, text(low_)}, {static_cast<double>(cells_ - 1), text(high_)}};
}

std::string size_on_axis(double bytes) { return format_size(static_cast<std::uint64_t>(std::llround(bytes))); }

void draw_axis(PlotCanvas& canvas, const LogAxis& axis, std::size_t left, std::size_t row, const std::string& title,
               double base, const AxisText& text) {
  const bool unicode = canvas.style().unicode;
  const auto begin = static_cast<std::ptrdiff_t>(left);
  const auto line = static_cast<std::ptrdiff_t>(row);
  const auto cells = static_cast<std::ptrdiff_t>(axis.cells());
  for (std::ptrdiff_t i = 0; i < cells; ++i) canvas.put(begin + i, line, unicode ? "─" : "-");
  for (const AxisTick& tick : axis.ticks(base, text, across)) {
    const std::ptrdiff_t at = std::llround(tick.place);
    canvas.put(begin + at, line, unicode ? "┬" : "+");
    const auto width = static_cast<std::ptrdiff_t>(characters_of(tick.text).size());
    const auto all = static_cast<std::ptrdiff_t>(canvas.style().columns);
    canvas.write(std::clamp<std::ptrdiff_t>(begin + at - width / 2, 0, std::max<std::ptrdiff_t>(0, all - width)),
                 line + 1, tick.text);
  }
  const auto width = static_cast<std::ptrdiff_t>(characters_of(title).size());
  canvas.write(std::max<std::ptrdiff_t>(0, begin + (cells - width) / 2), line + 2, title);
}

}  // namespace zerotax
