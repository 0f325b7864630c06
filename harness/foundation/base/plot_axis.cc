#include "base/plot_axis.h"

#include <algorithm>
#include <cmath>

#include "base/plot_canvas.h"
#include "base/units.h"

namespace zerotax {
namespace {

/// Two texts side by side need a blank between them.
double across(const std::string& text) { return static_cast<double>(characters_of(text).size()) + 1; }

}  // namespace

LogAxis::LogAxis(double low, double high, std::size_t cells) : low_(low), high_(high), cells_(cells) {
  // A single value would have no scale: it stands in the middle of two octaves.
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
      // So that the same powers stay whatever the ends are.
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
