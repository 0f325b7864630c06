#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/table.h"
#include "base/units.h"
#include "judge/points.h"
#include "os/page.h"
#include "point/operation_cost.h"
#include "report/report.h"

namespace zerotax::report {

namespace {

/// GB/s of an operation; nothing if it wrote to less than half of its bytes, because memory then does not limit it.
std::optional<double> rate(std::optional<double> ns, std::uint64_t bytes, std::uint64_t written) {
  return ns && *ns > 0 && written >= bytes / 2 ? std::optional(static_cast<double>(bytes) / *ns) : std::nullopt;
}

/// Bytes that the kernel or the allocator zeroed, or the program touched, in the process's first operation.
std::uint64_t written_first(const Point& point, std::uint64_t bytes) {
  const std::uint64_t zeroed =
      point.first()->count(Metric::kZeroedBytes).value_or(0) + page_bytes() * first_operation_faults(point).value_or(0);
  return std::max(zeroed, static_cast<std::uint64_t>(point.touch * static_cast<double>(bytes)));
}

/// Bytes that were zeroed in a later operation. Touched memory may be populated before it, so it does not count.
std::uint64_t written_later(const Point& point) {
  const std::uint64_t faulted = page_bytes() * operation_faults(point).value_or(0);
  return point.count(Metric::kZeroedBytes).value_or(0) +
         std::max(point.count(Metric::kKernelZeroedBytes).value_or(0), faulted);
}

template <typename T>
Cell cell(const std::optional<T>& value) {
  return value ? Cell(*value) : Cell::not_available();
}

/// A setting may put another needless thing in the place of this one.
const char* verdict_of(const KnobEffect& effect, std::uint64_t size) {
  if (!effect.avoids) return "shows";
  if (!*effect.avoids) return "still shows";
  const auto& redundant = effect.redundant_zeroed_bytes;
  return redundant && is_much(*redundant, size) ? "gone, but the block is zeroed needlessly" : "gone";
}

}  // namespace

double table_touch(const ReportData& data) {
  double least = 1;
  for (const EvidencePoint& point : data.finding.evidence) least = std::min(least, point.touch);
  return least;
}

std::string table_thread(const ReportData& data) {
  // A finding of both threads is shown on the main one; a difference between them, on the worker.
  const auto& evidence = data.finding.evidence;
  const bool main =
      data.finding.rule != "worker-differs" &&
      std::any_of(evidence.begin(), evidence.end(), [](const EvidencePoint& point) { return point.thread == "main"; });
  return main ? "main" : "worker";
}

std::string size_table(const ReportData& data, bool markdown) {
  std::vector<const Point*> points;
  for (const Point& point : data.points) {
    if (point.touch == table_touch(data) && point.thread == table_thread(data)) points.push_back(&point);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const Point* a, const Point* b) { return a->size_bytes < b->size_bytes; });
  Table table({{"size (bytes)", Unit::kCount, 13},
               {"allocator", Unit::kText, 18},
               {"fresh", Unit::kNs, 8},
               {"GB/s", Unit::kNumber, 7},
               {"faults", Unit::kCount, 8},
               {"reused", Unit::kNs, 8},
               {"GB/s", Unit::kNumber, 9},
               {"faults", Unit::kCount, 8}});
  for (const Point* point : points) {
    if (!point->is_ok() || point->first() == nullptr) {
      table.add({point->size_bytes, allocator_label(*point), word_of(point->status)});
      continue;
    }
    const std::uint64_t bytes = point->count(Metric::kRequestedBytes).value_or(point->size_bytes);
    const auto fresh = first_operation_ns(*point);
    const auto reused = operation_ns(*point);
    table.add({point->size_bytes, allocator_label(*point), cell(fresh),
               cell(rate(fresh, bytes, written_first(*point, bytes))), cell(first_operation_faults(*point)),
               cell(reused), cell(rate(reused, bytes, written_later(*point))), cell(operation_faults(*point))});
  }
  return markdown ? table.markdown(true) : table.text();
}

std::string knob_table(const ReportData& data, bool markdown) {
  if (data.knobs.empty()) return "";
  Table table({{"setting"},
               {"redundant bytes", Unit::kCount},
               {"page faults", Unit::kCount},
               {"time", Unit::kNs},
               {"finding"}});
  std::vector<KnobTrial> rows{{{}, data.without}};
  rows.insert(rows.end(), data.knobs.begin(), data.knobs.end());
  for (const auto& [knob, measured] : rows) {
    const KnobEffect effect = measured.value_or({});
    table.add({knob.env.empty() ? "(none)" : fmt::format("{}", fmt::join(setting_words(knob.env), " ")),
               effect.redundant_zeroed_bytes, effect.operation_faults, effect.operation_ns,
               measured || knob.env.empty() ? verdict_of(effect, data.size_bytes) : measured.why()});
  }
  return markdown ? table.markdown() : table.text();
}

std::string threshold_list(const ReportData& data) {
  std::string text;
  for (const ReportThreshold& each : data.thresholds) {
    text += each.exact ? fmt::format("- {} bytes", format_count(each.at_bytes))
                       : fmt::format("- somewhere from {} to {} bytes", format_count(each.after_bytes + 1),
                                     format_count(each.at_bytes));
    text += fmt::format("{}{}\n", each.changes.empty() ? "" : ": ", fmt::join(each.changes, "; "));
  }
  return text.empty() ? "No change was found: all sizes looked at behave alike.\n" : text;
}

}  // namespace zerotax::report
