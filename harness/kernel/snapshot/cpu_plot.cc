#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/lines.h"
#include "base/units.h"
#include "snapshot/table.h"

namespace zerotax::snapshot {
namespace {

constexpr std::size_t kRows = 8;
constexpr std::size_t kLeft = 8;  // columns for the axis and its numbers

/// A field of an interval with CPU time.
using Used = std::int64_t CpuInterval::*;

struct Busy {
  double user = 0;  ///< in CPUs
  double system = 0;
};

/// The average CPU use in each of `parts` equal parts of the time. An interval that overlaps several parts is divided
/// among them in proportion to the overlaps.
std::vector<Busy> busy_parts(const std::vector<Interval>& intervals, double length_ns, std::size_t parts, Used user,
                             Used system) {
  std::vector<Busy> busy(parts);
  const double width = length_ns / static_cast<double>(parts);
  double begin = 0;
  for (const Interval& interval : intervals) {
    const auto end = static_cast<double>(interval.end_ns);
    for (std::size_t i = 0; i < parts && end > begin; ++i) {
      const double low = width * static_cast<double>(i);
      const double shared = std::min(end, low + width) - std::max(begin, low);
      if (shared <= 0) continue;
      busy[i].user += static_cast<double>(interval.*user) * shared / (end - begin) / width;
      busy[i].system += static_cast<double>(interval.*system) * shared / (end - begin) / width;
    }
    begin = end;
  }
  return busy;
}

/// Draws the kernel's time at the bottom, and user mode above it. Each row represents `step` CPUs.
void draw(PlotCanvas& canvas, const std::vector<Busy>& busy, double step) {
  const bool unicode = canvas.style().unicode;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    const auto column = static_cast<std::ptrdiff_t>(kLeft + i);
    const auto kernel = std::lround(busy[i].system / step);
    const auto both = std::lround((busy[i].system + busy[i].user) / step);
    for (std::ptrdiff_t row = 0; row < std::min<std::ptrdiff_t>(both, kRows); ++row) {
      const bool in_kernel = row < kernel;
      const char* shape = in_kernel ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
      canvas.put(column, static_cast<std::ptrdiff_t>(kRows) - 1 - row, shape);
    }
  }
}

/// Puts a letter below the axis at the time of an event.
void mark(PlotCanvas& canvas, const Measured<std::int64_t>& at_ns, double length_ns, std::size_t parts,
          const char* letter) {
  if (!at_ns) return;
  const double place = static_cast<double>(*at_ns) / length_ns * static_cast<double>(parts);
  const auto column = std::min<std::ptrdiff_t>(std::lround(std::floor(place)), static_cast<std::ptrdiff_t>(parts) - 1);
  canvas.put(static_cast<std::ptrdiff_t>(kLeft) + column, kRows, letter);
}

std::string area(const CpuTime& cpu_time, Used user, Used system, const PlotStyle& style) {
  const auto length = static_cast<double>(cpu_time.intervals.back().end_ns);
  const std::size_t parts = std::clamp<std::size_t>(style.columns - kLeft - 1, 10, 72);
  const std::vector<Busy> busy = busy_parts(cpu_time.intervals, length, parts, user, system);
  double most = 0;
  for (const Busy& part : busy) most = std::max(most, part.user + part.system);
  const double top = std::max(1.0, std::ceil(most - 0.05));
  PlotCanvas canvas(style.columns, kRows + 1, style);
  for (std::size_t row = 0; row < kRows; ++row) {
    canvas.put(kLeft - 1, static_cast<std::ptrdiff_t>(row), style.unicode ? "│" : "|");
  }
  canvas.write(0, 0, fmt::format("{:.0f} %", 100 * top));
  canvas.write(0, kRows - 1, "0 %");
  draw(canvas, busy, top / static_cast<double>(kRows));
  mark(canvas, cpu_time.snapshot_ns, length, parts, "S");
  mark(canvas, cpu_time.child_end_ns, length, parts, "E");
  mark(canvas, cpu_time.writers_end_ns, length, parts, "W");
  return canvas.text();
}

}  // namespace

std::string cpu_time_plot(const std::string& title, const Measured<CpuTime>& cpu_time, const PlotStyle& style) {
  if (!cpu_time || cpu_time->intervals.empty()) return "";
  const auto length = static_cast<double>(cpu_time->intervals.back().end_ns);
  std::string text = wrap(fmt::format("{}: CPU time in {}", title, format_ns(length)), "", "") +
                     area(*cpu_time, &CpuInterval::user_ns, &CpuInterval::system_ns, style);
  if (cpu_time->child_end_ns) {
    text += "its child\n" + area(*cpu_time, &CpuInterval::child_user_ns, &CpuInterval::child_system_ns, style);
  }
  return text + fmt::format("{} kernel, {} user mode; S snapshot, E the child's end, W the writers' end\n",
                            style.unicode ? "█" : "#", style.unicode ? "░" : ".");
}

std::string cpu_time_plots(const Snapshot& snapshot, const PlotStyle& style) {
  std::string text;
  for (const Result& result : snapshot.results) {
    if (!result.ok()) continue;
    const std::string plot =
        cpu_time_plot(fmt::format("{} under {}", result.alternative, result.allocator), result.cpu_time, style);
    if (!plot.empty()) text += "\n" + plot;
  }
  return text;
}

std::string cpu_time_plots(const Sweep& sweep, const PlotStyle& style) {
  std::string text;
  for (const SweptRow& row : sweep.rows) {
    const std::string plot = cpu_time_plot(sweep_title(row), row.cpu_time, style);
    if (!plot.empty()) text += "\n" + plot;
  }
  return text;
}

}  // namespace zerotax::snapshot
