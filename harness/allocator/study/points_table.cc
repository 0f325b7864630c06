#include "study/points_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/lines.h"
#include "base/plots.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/table.h"
#include "base/units.h"
#include "judge/points.h"
#include "judge/signature.h"
#include "point/typed_point.h"

namespace zerotax::study {
namespace {

/// Returns the allocator, and the thread if it is a worker, in 22 columns.
std::string row_label(const Point& point) {
  const std::string name = first_characters(printable(allocator_label(point)), 22);
  return first_characters(name + (point.thread == "worker" ? " (worker)" : ""), 22);
}

/// Returns a table to append to others; empty if the table has no rows.
std::string below(const Table& table) { return table.empty() ? "" : "\n" + table.text(); }

}  // namespace

Table transfers_table(const std::vector<Point>& points) {
  Table table({{"allocator", Unit::kText, 22},
               {"receiving by", Unit::kText, 15},
               {"size", Unit::kBytes, 9},
               {"MB/s", Unit::kNumber, 6},
               {"CPU s/GB", Unit::kNumber, 8},
               {"zeroed/B", Unit::kNumber, 8},
               {"flt/MB", Unit::kNumber, 6}});
  for (const Point& point : points) {
    if (!point.has(MetricGroup::kTransfer)) continue;
    const auto cell = [&](Metric metric) {
      return point.is_measured(metric) ? Cell(*point.number(metric)) : Cell::not_available();
    };
    table.add({row_label(point), point.case_name, point.size_bytes, cell(Metric::kMbPerS), cell(Metric::kCpuSPerGb),
               cell(Metric::kZeroedPerReceivedByte), cell(Metric::kFaultsPerMb)});
  }
  return table;
}

namespace {

/// Returns two lines for each point of a case that forks: the cost of the fork, and of the writes after the fork. Empty
/// if there are no points of this kind.
std::string forks_table(const std::vector<Point>& points) {
  std::string text;
  for (const Point& point : points) {
    if (!point.has(MetricGroup::kFork)) continue;
    if (text.empty()) {
      text = fmt::format("\n{:<22} {:>8} {:>5} {:>7}  {:<6} {:>8} {:>8} {:>8}\n", "forking", "size", "touch", "fork",
                         "by", "copies", "reuses", "0-fills");
    }
    const bool huge = point.case_name.ends_with("_huge");
    text += fmt::format("{:<22} {:>8} {:>5g} {:>7}", row_label(point), format_size(point.size_bytes), point.touch,
                        time_word(point, Metric::kForkNs));
    text += fmt::format("  {:<6} {:>8} {:>8} {:>8}\n", "child", count_word(point, Metric::kChildCopies),
                        count_word(point, Metric::kChildReuses), count_word(point, Metric::kChildZeroFills));
    text += fmt::format("{:<45}", fmt::format("  page tables: {}{}", bytes_word(point, Metric::kPageTableBytes),
                                              huge ? "; huge pages advised" : ""));
    text += fmt::format("  {:<6} {:>8} {:>8} {:>8}\n", "parent", count_word(point, Metric::kParentCopies),
                        count_word(point, Metric::kParentReuses), count_word(point, Metric::kParentZeroFills));
  }
  return text;
}

/// Returns a table of the memory held with and without huge pages; empty if no point was measured with huge pages.
std::string held_table(const std::vector<Point>& points) {
  Table table({{"memory held", Unit::kText, 22},
               {"size", Unit::kBytes, 9},
               {"touch", Unit::kNumber, 5},
               right_text("held", 10),
               right_text("in huge", 10),
               right_text("without", 10),
               right_text("after free", 10)});
  for (const Point& point : points) {
    if (!point.has(MetricGroup::kHeld)) continue;
    table.add({row_label(point), point.size_bytes, point.touch, bytes_word(point, Metric::kHeldBytes),
               bytes_word(point, Metric::kHeldHugeBytes), bytes_word(point, Metric::kHeldWithoutHugeBytes),
               bytes_word(point, Metric::kHeldAfterFreeBytes)});
  }
  return below(table);
}

/// Returns lines for points whose calls differ, one line for each kind of call. The table shows only medians. Empty if
/// no point's calls differ.
std::string modes_list(const std::vector<Point>& points) {
  std::string text;
  for (const Point& point : points) {
    const std::vector<std::string> lines = mode_lines(point);
    if (lines.empty()) continue;
    text += fmt::format("{}{} {}, touch {:g}: the calls are not alike\n", text.empty() ? "\n" : "", row_label(point),
                        format_size(point.size_bytes), point.touch);
    for (const std::string& line : lines) text += "  " + printable(line) + "\n";
  }
  return text;
}

}  // namespace

Table refills_table(const std::vector<Point>& points) {
  Table table({{"one round", Unit::kText, 22},
               {"size", Unit::kBytes, 9},
               right_text("requested", 9),
               right_text("kernel-zeroed", 13),
               right_text("refilled", 9)});
  for (const Point& point : points) {
    if (point.case_name != "refill_loop" || point.status == PointStatus::kSkipped) continue;
    table.add({row_label(point), point.size_bytes, bytes_word(point, Metric::kRequestedBytes),
               bytes_word(point, Metric::kKernelZeroedBytes), bytes_word(point, Metric::kRefilledBytes)});
  }
  return table;
}

namespace {

/// Returns a line for each point whose free wrote zeros, because the table has no column for free.
std::string frees_text(const std::vector<Point>& points) {
  std::string text;
  for (const Point& point : points) {
    if (point.evident_count(Metric::kZeroedInFreeBytes).value_or(0) == 0) continue;
    text += fmt::format(
        "{} {}, touch {:g}: free zeroes {}{}, {} of it redundant\n", row_label(point), format_size(point.size_bytes),
        point.touch, bound_words(point.is_upper_bound(Metric::kZeroedInFreeBytes)),
        bytes_word(point, Metric::kZeroedInFreeBytes), bytes_word(point, Metric::kRedundantZeroedInFreeBytes));
  }
  return text;
}

}  // namespace

std::string points_table(const std::vector<Point>& points, const Palette& palette) {
  std::string text = fmt::format("{:<22} {:>9} {:>5} {:>9} {:>9} {:>9} {:>9}\n", "allocator", "size", "touch", "calloc",
                                 "faults", "zeroed", "redundant");
  for (const Point& point : points) {
    text += fmt::format("{:<22} {:>9} {:>5g} ", row_label(point), format_size(point.size_bytes), point.touch);
    if (point.status == PointStatus::kSkipped) {
      text += "skipped\n";
      continue;
    }
    const std::string redundant = fmt::format("{:>9}", bytes_word(point, Metric::kRedundantZeroedBytes));
    const bool needless = point.count(Metric::kRedundantZeroedBytes).value_or(0) > 0;
    text += fmt::format("{:>9} {:>9} {:>9} {}{}\n", time_word(point, Metric::kCallocNs),
                        count_word(point, Metric::kCallocFaults), bytes_word(point, Metric::kZeroedBytes),
                        needless ? palette(Tone::kWorse, redundant) : redundant,
                        point.is_ok() ? "" : palette(Tone::kWorse, " !"));
  }
  text += modes_list(points) + below(transfers_table(points)) + forks_table(points) + held_table(points) +
          below(refills_table(points)) + frees_text(points);
  for (const Point& point : points) {
    if (point.is_ok()) continue;
    text +=
        fmt::format("{} {}, touch {:g}: {}: {}\n", printable(point.allocator), format_size(point.size_bytes),
                    point.touch, palette(Tone::kWorse, word_of(point.status)), printable(point.reason.value_or("")));
  }
  return text;
}

namespace {

using PlotGroup = std::tuple<std::string, double, std::string>;  ///< case, touch, thread

/// Returns the groups in order of appearance, as in the table.
std::vector<PlotGroup> groups_of(const std::vector<Point>& points) {
  std::vector<PlotGroup> groups;
  for (const Point& point : points) {
    PlotGroup group{point.case_name, point.touch, point.thread};
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(std::move(group));
  }
  return groups;
}

std::string title_of_group(const PlotGroup& group) {
  const auto& [case_name, touch, thread] = group;
  return fmt::format("{}, touch {:g}{}", case_name, touch, thread == "worker" ? ", worker thread" : "");
}

/// Returns the line of one allocator, from its `points` by size. A point without a time interrupts the line.
PlotLine line_of(const std::string& label, const std::map<std::uint64_t, const Point*>& points) {
  PlotLine line{label, {}};
  std::optional<Signature> before;
  for (const auto& [size, point] : points) {
    const auto ns = point->number(Metric::kCallocNs);
    if (!point->is_ok() || !ns) {
      before.reset();
      continue;
    }
    const Signature now = signature_of(*point);
    // A change of behavior in only the first call does not matter here, because the times do not include the first
    // call.
    const bool joined = before && before->reuse == now.reuse && before->refilling == now.refilling;
    if (!joined) line.pieces.emplace_back();
    // Clocks have a resolution of a nanosecond, and a logarithmic axis has no zero, so times are at least 1 ns.
    line.pieces.back().push_back({static_cast<double>(size), std::max(1.0, *ns)});
    before = now;
  }
  return line;
}

}  // namespace

std::string points_plot(const std::vector<Point>& points, const PlotStyle& style) {
  std::string text;
  for (const PlotGroup& group : groups_of(points)) {
    std::vector<std::string> labels;
    std::map<std::string, std::map<std::uint64_t, const Point*>> of;
    std::set<std::uint64_t> sizes;
    for (const Point& point : points) {
      if (PlotGroup{point.case_name, point.touch, point.thread} != group) continue;
      const std::string label = point.allocator + settings_words(point.env);
      if (!of.contains(label)) labels.push_back(label);
      of[label][point.size_bytes] = &point;
      if (point.is_ok() && point.number(Metric::kCallocNs)) sizes.insert(point.size_bytes);
    }
    if (sizes.size() < 2) continue;
    std::vector<PlotLine> lines;
    lines.reserve(labels.size());
    for (const std::string& label : labels) lines.push_back(line_of(label, of[label]));
    text += "\n" + line_plot(title_of_group(group), "size asked of calloc", "time of one calloc", lines, style);
  }
  if (text.empty()) return text;
  return text + "A line joins two sizes only where calloc behaves the same at both.\n";
}

}  // namespace zerotax::study
