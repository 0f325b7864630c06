#pragma once

#include <functional>
#include <string>
#include <vector>

namespace zerotax {

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

class PlotCanvas;

/// Draws a horizontal axis: a rule over its cells in `row`, from column `left` on, with a mark at each power of `base`
/// that has room; its text below, and `title` below that, in the middle. Three rows.
void draw_axis(PlotCanvas& canvas, const LogAxis& axis, std::size_t left, std::size_t row, const std::string& title,
               double base, const AxisText& text);

/// Sizes in bytes for an axis: "64 KiB".
std::string size_on_axis(double bytes);

}  // namespace zerotax
