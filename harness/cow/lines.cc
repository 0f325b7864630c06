#include "cow/lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"

namespace zerotax::cow {
namespace {

constexpr std::uint64_t kLongestBar = 64;

/// Sums over some processes. A sum with a missing part is empty.
struct Side {
  FaultCounts counts;
  std::size_t alive = 0;
  std::uint64_t rss = 0;
  std::uint64_t vsz = 0;
  std::optional<std::uint64_t> pss = 0;

  void add(const FaultInterval::Process& process) {
    counts.add(process.counts);
    if (!process.memory.rss) return;
    ++alive;
    rss += *process.memory.rss;
    vsz += process.memory.vsz.value_or(0);
    pss = pss && process.memory.pss ? std::optional(*pss + *process.memory.pss) : std::nullopt;
  }
};

std::string cut(const std::string& text, std::size_t columns) {
  return (columns > 0 ? text.substr(0, columns) : text) + "\n";
}

std::string line(const std::string& first, const Side& side, bool bar, std::size_t columns) {
  const auto memory = [&](std::optional<std::uint64_t> bytes) {
    return side.alive > 0 && bytes ? format_size(*bytes) : "-";
  };
  std::string text =
      fmt::format("{:<12} {:>7} {:>7} {:>10} {:>6} {:>9} {:>9} {:>9} {:>9}", first, side.counts.copies,
                  side.counts.reuses, side.counts.zero_fills, side.counts.file_faults,
                  format_size(side.counts.copied_bytes), memory(side.rss), memory(side.pss), memory(side.vsz));
  if (bar && side.counts.copies > 0) text += "  " + std::string(std::min(side.counts.copies, kLongestBar), '@');
  return cut(text, columns);
}

}  // namespace

std::string cow_heading(std::size_t columns) {
  return cut(fmt::format("{:<12} {:>7} {:>7} {:>10} {:>6} {:>9} {:>9} {:>9} {:>9}  {}", "time", "copies", "reuses",
                         "zero-fills", "file", "copied", "RSS", "PSS", "VSZ", "copies"),
             columns);
}

std::string cow_lines(const FaultInterval& interval, std::size_t columns) {
  Side all;
  Side parent;
  Side children;
  bool any_child = false;
  for (const auto& [pid, process] : interval.processes) {
    all.add(process);
    (process.child ? children : parent).add(process);
    any_child = any_child || process.child;
  }
  std::string text = line(fmt::format("{:.2f} s", interval.to_s), all, true, columns);
  if (!any_child) return text;
  text += line("  parent", parent, false, columns);
  return text + line(children.alive > 0 ? fmt::format("  children {}", children.alive) : "  children", children, false,
                     columns);
}

}  // namespace zerotax::cow
