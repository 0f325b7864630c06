#include <fmt/format.h>

#include <map>

#include "base/units.h"
#include "check/gather.h"
#include "check/table.h"

namespace zerotax::check {
namespace {

std::string ranges_text(const Baseline& baseline) {
  std::map<Metric, std::vector<const SeenRange*>> ranges;
  std::uint64_t runs = 0;
  for (const SeenRange& range : baseline.ranges) {
    ranges[range.metric].push_back(&range);
    runs = std::max(runs, range.runs);
  }
  std::string text;
  for (const auto& [metric, all] : ranges) {
    const SeenRange& first = *all.front();
    const std::string example = fmt::format("{}: {}", name_of(first), words_of(first));
    text += all.size() == 1
                ? fmt::format("    {}\n", example)
                : fmt::format("    {}, {}, as {}\n", row_of(metric).key, format_counted(all.size(), "value"), example);
  }
  if (text.empty()) return "";
  return fmt::format("  not the same each time: the baseline keeps the range that up to {} runs saw of\n{}", runs,
                     text);
}

/// Values for which a baseline has nothing to compare with.
std::string left_out_text(const Baseline& baseline) {
  std::string text;
  for (const Point& point : baseline.points) {
    for (const Slot& slot : slots_of(point)) {
      const std::string why = value_at(point, slot)->why_not();
      const bool is_left_out = (why == kByAClock || why == kNotTheSame) && range_of(baseline, slot) == nullptr;
      if (!is_left_out) continue;
      text += fmt::format("  left out, {}: {}\n", why, name_of(slot));
    }
  }
  return text;
}

}  // namespace

std::string unsteady_text(const Baseline& baseline) {
  std::string text = ranges_text(baseline) + left_out_text(baseline);
  for (const UncertainThreshold& each : baseline.uncertain) {
    text += fmt::format("  uncertain, seen in {} of {} looks: {}\n", each.seen, each.looks, name_of(each));
  }
  return text;
}

}  // namespace zerotax::check
