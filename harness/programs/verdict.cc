#include "programs/verdict.h"

#include <algorithm>

namespace zerotax::programs {
namespace {

constexpr std::uint64_t kMostChecks = 3;

/// Where a value lies.
enum class Side { kBelow, kInside, kAbove };

Side side_of(const MetricRow& row, const Range& range, std::uint64_t value) {
  const std::uint64_t slack = slack_of(row.unit, range);
  if (value > range.high + slack) return Side::kAbove;
  return value + slack < range.low ? Side::kBelow : Side::kInside;
}

/// Adds what of one process lies outside its range.
void compare(const std::string& process, const Ranges& before, const Values& after, Judged& judged) {
  for (const MetricRow& row : metric_rows()) {
    const Measured<Range>& range = before[row.metric];
    const auto& value = after[row.metric];
    if (!range || !value) {
      if (process.empty() && range.has_value() != value.has_value()) {
        judged.not_compared.push_back({name_of(row, process), range ? value.why() : range.why()});
      }
      continue;
    }
    const Side side = side_of(row, *range, *value);
    if (side == Side::kInside) continue;
    const Direction direction = !row.costs             ? Direction::kNeither
                                : side == Side::kAbove ? Direction::kWorse
                                                       : Direction::kBetter;
    judged.changes.push_back({process, row.metric, *range, *value, direction});
  }
}

Judged compared(const Program& baseline, const CommandRun& run) {
  Judged judged;
  compare("", baseline.metrics, run.all, judged);
  const auto is_named = [&](const auto& each) { return baseline.processes.contains(each.first); };
  // One process is the command as a whole.
  if (baseline.processes.size() < 2 && std::all_of(run.processes.begin(), run.processes.end(), is_named)) return judged;
  static const Ranges none = [] {
    Ranges ranges;
    ranges.all.fill(Range{});
    return ranges;
  }();
  for (const auto& [name, before] : baseline.processes) {
    const auto found = run.processes.find(name);
    compare(name, before, found == run.processes.end() ? no_values() : found->second, judged);
  }
  for (const auto& [name, after] : run.processes) {
    if (!baseline.processes.contains(name)) compare(name, none, after, judged);
  }
  return judged;
}

/// Takes out what is not in a further run, on the same side.
void keep_lasting(const Judged& again, Judged& judged) {
  const auto is_gone = [&](Change& change) {
    const auto same = std::find_if(again.changes.begin(), again.changes.end(), [&](const Change& other) {
      return other.process == change.process && other.metric == change.metric && other.grew() == change.grew();
    });
    if (same == again.changes.end()) {
      judged.not_compared.push_back({name_of(row_of(change.metric), change.process), "not the same each time"});
      return true;
    }
    change.after = change.grew() ? std::min(change.after, same->after) : std::max(change.after, same->after);
    return false;
  };
  std::vector<Change> kept;
  for (Change& change : judged.changes) {
    if (!is_gone(change)) kept.push_back(change);
  }
  judged.changes = std::move(kept);
}

}  // namespace

Judged judge(const Program& baseline, const Runner& run) {
  CommandRun first = run();
  Judged judged = compared(baseline, first);
  judged.first = std::move(first);
  judged.runs = 1;
  while (!judged.changes.empty() && judged.runs < kMostChecks) {
    keep_lasting(compared(baseline, run()), judged);
    ++judged.runs;
  }
  std::stable_sort(judged.changes.begin(), judged.changes.end(),
                   [](const Change& one, const Change& other) { return one.direction < other.direction; });
  return judged;
}

Verdict verdict_of(const std::vector<Change>& changes) {
  const auto any = [&](Direction direction) {
    return std::any_of(changes.begin(), changes.end(), [&](const Change& each) { return each.direction == direction; });
  };
  const bool worse = any(Direction::kWorse);
  const bool better = any(Direction::kBetter);
  if (worse) return better ? Verdict::kMixed : Verdict::kWorse;
  if (better) return Verdict::kBetter;
  return changes.empty() ? Verdict::kSame : Verdict::kChanged;
}

}  // namespace zerotax::programs
