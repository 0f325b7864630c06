#include "programs/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace zerotax::programs {
namespace {

/// That n runs of a baseline and k of a check come from one distribution, and all k lie on one side of all n, has the
/// probability 2 / (n + k over n): for ten runs and five, 1 in 1,500 for each metric that varies.
constexpr std::uint64_t kMostChecks = 3;
constexpr std::uint64_t kMostChecksOfVarying = 5;

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
    if (range->beyond(*value) <= slack_of(row.unit, *range)) continue;
    const Direction direction = !row.costs             ? Direction::kNeither
                                : *value > range->high ? Direction::kWorse
                                                       : Direction::kBetter;
    judged.changes.push_back({process, row.metric, *range, *value, direction});
  }
}

/// A process that is not in a baseline.
const Ranges& no_ranges() {
  static const Ranges none = [] {
    Ranges ranges;
    ranges.all.fill(Range{});
    return ranges;
  }();
  return none;
}

Judged compared(const Program& baseline, const CommandRun& run) {
  Judged judged;
  compare("", baseline.metrics, run.all, judged);
  const auto is_named = [&](const auto& each) { return baseline.processes.contains(each.first); };
  // One process is the command as a whole.
  if (baseline.processes.size() < 2 && std::all_of(run.processes.begin(), run.processes.end(), is_named)) return judged;
  for (const auto& [name, before] : baseline.processes) {
    const auto found = run.processes.find(name);
    compare(name, before, found == run.processes.end() ? no_values() : found->second, judged);
  }
  for (const auto& [name, after] : run.processes) {
    if (!baseline.processes.contains(name)) compare(name, no_ranges(), after, judged);
  }
  return judged;
}

std::uint64_t most_checks(const std::vector<Change>& changes) {
  const bool any_varies = std::any_of(changes.begin(), changes.end(), [](const Change& change) {
    return change.before.width() > least_slack(row_of(change.metric).unit, change.before);
  });
  return any_varies ? kMostChecksOfVarying : kMostChecks;
}

void sort_changes(std::vector<Change>& changes) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& one, const Change& other) { return one.direction < other.direction; });
}

/// The value of one range that is nearest to another.
std::uint64_t nearest(const Range& range, const Range& other) {
  return range.low > other.high ? range.low : std::min(range.high, std::max(range.low, other.low));
}

Values nearest_values(const Ranges& ranges, const Ranges& others) {
  Values values;
  for (std::size_t i = 0; i < kMetrics; ++i) {
    const Measured<Range>& range = ranges.all[i];
    const Measured<Range>& other = others.all[i];
    values.all[i] =
        range ? Measured<std::uint64_t>(other ? nearest(*range, *other) : range->low) : NotAvailable{range.why()};
  }
  return values;
}

/// The run that a program could have made which differs least from another program.
CommandRun nearest_run(const Program& program, const Program& other) {
  CommandRun run;
  run.exit_status = program.exit_status;
  run.allocator = text_field(program.measured_on, "allocator", "");
  run.all = nearest_values(program.metrics, other.metrics);
  run.evidence = program.evidence;
  for (const auto& [name, ranges] : program.processes) {
    const auto found = other.processes.find(name);
    run.processes[name] = nearest_values(ranges, found == other.processes.end() ? no_ranges() : found->second);
  }
  for (const auto& [key, site] : program.sites) {
    const auto found = other.sites.find(key);
    Site& near = run.sites[key];
    near.place = site.place;
    for (std::size_t i = 0; i < kSiteNumbers; ++i) {
      near.numbers.all[i] =
          nearest(site.numbers.all[i], found == other.sites.end() ? Range{} : found->second.numbers.all[i]);
    }
  }
  return run;
}

/// Pairs names of processes of NEW with names of OLD: equal names, then processes that the same process started in the
/// same order.
std::map<std::string, std::string> same_roles(const Program& before, const Program& after) {
  std::map<std::string, std::string> same;
  std::vector<Role> left;
  for (const Role& role : before.roles) {
    if (after.processes.contains(role.name)) {
      same.emplace(role.name, role.name);
    } else {
      left.push_back(role);
    }
  }
  for (const Role& role : after.roles) {
    if (same.contains(role.name)) continue;
    const auto parent = same.find(role.parent);
    const std::string& parents_name = parent == same.end() ? role.parent : parent->second;
    const auto found =
        std::find_if(left.begin(), left.end(), [&](const Role& old) { return old.parent == parents_name; });
    if (found == left.end()) continue;
    same.emplace(role.name, found->name);
    left.erase(found);
  }
  return same;
}

/// Gives paired processes the same name.
void name_alike(Program& before, Program& after) {
  for (const auto& [now, old] : same_roles(before, after)) {
    if (now == old) continue;
    const std::string both = old + " → " + now;
    for (const auto& [program, name] : {std::pair(&before, old), std::pair(&after, now)}) {
      auto entry = program->processes.extract(name);
      if (entry.empty()) continue;
      entry.key() = both;
      program->processes.insert(std::move(entry));
    }
  }
}

}  // namespace

std::string name_of(const Change& change) { return name_of(row_of(change.metric), change.process); }

bool lasts(Change& change, const Change& again) {
  if (again.grew() != change.grew()) return false;
  change.after = change.grew() ? std::min(change.after, again.after) : std::max(change.after, again.after);
  return true;
}

Judged compare(const Program& named_before, const Program& named_after) {
  Program before = named_before;
  Program after = named_after;
  name_alike(before, after);
  CommandRun run = nearest_run(after, before);
  Judged judged = compared(before, run);
  judged.first = std::move(run);
  judged.runs = after.runs;
  sort_changes(judged.changes);
  return judged;
}

Check check_of(const Program& baseline, Judged judged, const Json& measured_on, const std::string& same) {
  Check check;
  check.baseline = baseline;
  check.measured = std::move(judged.first);
  check.runs = judged.runs;
  check.changes = std::move(judged.changes);
  check.not_compared = std::move(judged.not_compared);
  check.sites = site_changes(baseline, check.measured);
  check.measured_on = measured_on;
  check.conditions = differing_conditions(baseline.measured_on, measured_on);
  check.verdict = verdict_of(check.changes);
  check.passed = passes(check.verdict, false);
  check.sentence = sentence_of(check, same);
  check.advice = advice_of(check);
  return check;
}

Checks checks_of(std::vector<Check> checks) {
  constexpr std::size_t kNamed = 3;
  Checks all;
  std::vector<std::string> names;
  for (const Check& check : checks) {
    if (check.verdict != Verdict::kSame) names.push_back(check.subject.name);
    all.passed = all.passed && check.passed;
  }
  all.verdict = joined_verdict(checks);
  const std::size_t same = checks.size() - names.size();
  if (names.size() > kNamed) {
    const std::size_t more = names.size() - kNamed;
    names.resize(kNamed);
    names.push_back(fmt::format("{} more", more));
  }
  const std::string count = format_counted(checks.size(), "command");
  if (names.empty()) {
    all.sentence = fmt::format("same: {} are as in the baseline", count);
  } else {
    all.sentence = fmt::format("{}: {}{}", word_of(all.verdict), fmt::join(names, ", "),
                               same > 0 ? fmt::format("; {} of {} are as in the baseline", same, count) : "");
  }
  all.checks = std::move(checks);
  return all;
}

Judged judge(const Program& baseline, const Runner& run) {
  CommandRun first = run();
  Judged judged = compared(baseline, first);
  judged.first = std::move(first);
  judged.runs = 1;
  std::vector<std::string> gone;
  while (!judged.changes.empty() && judged.runs < most_checks(judged.changes)) {
    keep_lasting(judged.changes, compared(baseline, run()).changes, gone, [](const Change&) { return true; });
    ++judged.runs;
  }
  for (const std::string& name : gone) judged.not_compared.push_back({name, "not the same each time"});
  sort_changes(judged.changes);
  return judged;
}

}  // namespace zerotax::programs
