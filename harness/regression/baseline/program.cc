#include "baseline/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "baseline/document.h"
#include "baseline/result.h"
#include "os/load.h"

namespace zerotax::baseline {
namespace {

constexpr std::uint64_t kFewestRuns = 3;

bool add_values(Ranges& ranges, const runs::Values& values, bool first) {
  bool grew = false;
  for (const runs::MetricRow& row : runs::metric_rows()) {
    Measured<Range>& range = ranges[row.metric];
    const auto& value = values[row.metric];
    if (first) {
      range = value ? Measured<Range>(Range{*value, *value}) : NotAvailable{value.why()};
    } else if (range && !value) {
      range = NotAvailable{value.why()};
    } else if (range) {
      const Range before = *range;
      (*range).add(*value);
      grew = grew || (*range != before && range->width() > least_slack(row.unit, *range));
    }
  }
  return grew;
}

bool add_processes(Program& program, const runs::CommandRun& run, bool first) {
  bool grew = false;
  for (auto& [name, ranges] : program.processes) {
    const auto found = run.processes.find(name);
    grew = add_values(ranges, found == run.processes.end() ? no_values() : found->second, false) || grew;
  }
  for (const auto& [name, values] : run.processes) {
    const auto [entry, is_new] = program.processes.try_emplace(name);
    if (!is_new) continue;
    add_values(entry->second, first ? values : no_values(), true);
    grew = (!first && add_values(entry->second, values, false)) || grew;
  }
  return grew;
}

void add_sites(Program& program, const runs::CommandRun& run, bool first) {
  for (auto& [key, site] : program.sites) {
    const auto found = run.sites.find(key);
    for (std::size_t i = 0; i < runs::kSiteNumbers; ++i) {
      site.numbers.all[i].add(found == run.sites.end() ? 0 : found->second.numbers.all[i]);
    }
  }
  for (const auto& [key, site] : run.sites) {
    const auto [entry, is_new] = program.sites.try_emplace(key);
    if (!is_new) continue;
    entry->second.place = site.place;
    for (std::size_t i = 0; i < runs::kSiteNumbers; ++i) {
      const std::uint64_t value = site.numbers.all[i];
      entry->second.numbers.all[i] = {first ? value : 0, value};
    }
  }
}

/// Maximum numbers of runs of a check. If n runs of a baseline and k of a check have one distribution, all k can lie on
/// one side of all n. The probability of this is 2 / C(n + k, k): for ten runs and five, 1 in 1,500 for each metric
/// that varies.
constexpr std::uint64_t kMostChecks = 3;
constexpr std::uint64_t kMostChecksOfVarying = 5;

/// Adds the metrics of one process that lie outside their range.
void compare(const std::string& process, const Ranges& before, const runs::Values& after, Judged& judged) {
  for (const runs::MetricRow& row : runs::metric_rows()) {
    const Measured<Range>& range = before[row.metric];
    const auto& value = after[row.metric];
    if (!range || !value) {
      if (process.empty() && range.has_value() != value.has_value()) {
        judged.not_compared.push_back({name_of(row, process), range ? value.why() : range.why()});
      }
      continue;
    }
    if (range->beyond(*value) <= slack_of(row, *range)) continue;
    const Direction direction = !row.costs             ? Direction::kNeither
                                : *value > range->high ? Direction::kWorse
                                                       : Direction::kBetter;
    judged.changes.push_back({process, row.metric, direction, *range, *value, {}});
  }
}

/// Returns ranges from 0 to 0, which stand for a process that the baseline does not contain.
const Ranges& no_ranges() {
  static const Ranges none = [] {
    Ranges ranges;
    ranges.all.fill(Range{});
    return ranges;
  }();
  return none;
}

Judged compared(const Program& baseline, const runs::CommandRun& run) {
  Judged judged;
  compare("", baseline.metrics, run.all, judged);
  const auto is_named = [&](const auto& each) { return baseline.processes.contains(each.first); };
  // The metrics of a single process are those of the command as a whole.
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

std::uint64_t most_checks(const std::vector<ProgramChange>& changes) {
  const bool any_varies = std::any_of(changes.begin(), changes.end(), [](const ProgramChange& change) {
    return change.before.width() > least_slack(row_of(change.metric).unit, change.before);
  });
  return any_varies ? kMostChecksOfVarying : kMostChecks;
}

void sort_changes(std::vector<ProgramChange>& changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const ProgramChange& one, const ProgramChange& other) {
    return one.direction < other.direction;
  });
}

/// Returns the value of `range` that is nearest to `other`.
std::uint64_t nearest(const Range& range, const Range& other) {
  return range.low > other.high ? range.low : std::min(range.high, std::max(range.low, other.low));
}

runs::Values nearest_values(const Ranges& ranges, const Ranges& others) {
  runs::Values values;
  for (std::size_t i = 0; i < runs::kMetrics; ++i) {
    const Measured<Range>& range = ranges.all[i];
    const Measured<Range>& other = others.all[i];
    values.all[i] =
        range ? Measured<std::uint64_t>(other ? nearest(*range, *other) : range->low) : NotAvailable{range.why()};
  }
  return values;
}

/// Returns the run of a program, among all runs within its ranges, that differs least from another program.
runs::CommandRun nearest_run(const Program& program, const Program& other) {
  runs::CommandRun run;
  run.exit_status = program.exit_status;
  run.allocator = program.measured_on.allocator;
  run.all = nearest_values(program.metrics, other.metrics);
  run.evidence = program.evidence;
  for (const auto& [name, ranges] : program.processes) {
    const auto found = other.processes.find(name);
    run.processes[name] = nearest_values(ranges, found == other.processes.end() ? no_ranges() : found->second);
  }
  for (const auto& [key, site] : program.sites) {
    const auto found = other.sites.find(key);
    runs::Site& near = run.sites[key];
    near.place = site.place;
    for (std::size_t i = 0; i < runs::kSiteNumbers; ++i) {
      near.numbers.all[i] =
          nearest(site.numbers.all[i], found == other.sites.end() ? Range{} : found->second.numbers.all[i]);
    }
  }
  return run;
}

/// Pairs the names of processes in NEW with names in OLD. Equal names are paired first, then processes that the same
/// parent started in the same order.
std::map<std::string, std::string> same_roles(const Program& before, const Program& after) {
  std::map<std::string, std::string> same;
  std::vector<runs::Role> left;
  for (const runs::Role& role : before.roles) {
    if (after.processes.contains(role.name)) {
      same.emplace(role.name, role.name);
    } else {
      left.push_back(role);
    }
  }
  for (const runs::Role& role : after.roles) {
    if (same.contains(role.name)) continue;
    const auto parent = same.find(role.parent);
    const std::string& parents_name = parent == same.end() ? role.parent : parent->second;
    const auto found =
        std::find_if(left.begin(), left.end(), [&](const runs::Role& old) { return old.parent == parents_name; });
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
    const std::string both = fmt::format("{} → {}", old, now);
    for (const auto& [program, name] : {std::pair(&before, old), std::pair(&after, now)}) {
      auto entry = program->processes.extract(name);
      if (entry.empty()) continue;
      entry.key() = both;
      program->processes.insert(std::move(entry));
    }
  }
}

}  // namespace

std::string format_value(Unit unit, std::uint64_t value) {
  return unit == Unit::kBytes ? format_size(value) : format_count(value);
}

std::string format_range(Unit unit, const Range& range) {
  const std::string low = format_value(unit, range.low);
  return range.width() == 0 ? low : fmt::format("{} to {}", low, format_value(unit, range.high));
}

std::uint64_t least_slack(Unit unit, const Range& range) {
  constexpr std::uint64_t kCounts = 16;
  constexpr std::uint64_t kBytes = std::uint64_t{64} << 10;
  constexpr std::uint64_t kPart = 50;
  return std::max(range.high / kPart, unit == Unit::kBytes ? kBytes : kCounts);
}

std::uint64_t slack_of(const runs::MetricRow& row, const Range& range) {
  // The number of started processes does not depend on addresses and page boundaries, so it is compared exactly.
  const bool is_exact = row.family == runs::Family::kOfProcesses;
  return is_exact ? range.width() : std::max(range.width(), least_slack(row.unit, range));
}

const runs::Values& no_values() {
  static const runs::Values values = [] {
    runs::Values made;
    made.all.fill(std::uint64_t{0});
    return made;
  }();
  return values;
}

bool add_run(Program& program, const runs::CommandRun& run) {
  const bool first = program.runs == 0;
  bool grew = add_values(program.metrics, run.all, first);
  grew = add_processes(program, run, first) || grew;
  add_sites(program, run, first);
  if (first) program.exit_status = run.exit_status;
  program.roles = run.roles;
  program.evidence = run.evidence;
  ++program.runs;
  return grew;
}

std::uint64_t gather_runs(std::uint64_t most) { return std::max(kFewestRuns, most); }

bool Gathering::is_done() const { return program_.runs >= kFewestRuns && !varied_; }

void Gathering::add(const runs::CommandRun& run) {
  if (program_.runs != 0 && run.exit_status != program_.exit_status) {
    throw UsageError(fmt::format("'{}' ended with exit status {}, but earlier with {}", program_.name, run.exit_status,
                                 program_.exit_status),
                     "give a command that ends with the same status each time");
  }
  varied_ = add_run(program_, run) || varied_;
}

void gather(Program& program, const Runner& run, std::uint64_t most) {
  Gathering gathering(program);
  while (program.runs < gather_runs(most) && !gathering.is_done()) gathering.add(run());
}

void check_exit_status(const runs::CommandRun& run, const std::string& name, int expected, const std::string& remedy) {
  if (run.exit_status == expected) return;
  const std::string how = run.exit_status == 0 ? "ended with exit status 0" : run.notes.front();
  throw UsageError(fmt::format("'{}' {}{}", name, how, expected == 0 ? "" : fmt::format(", not {}", expected)), remedy);
}

Program measured(const runs::Command& command, const RecordingOptions& options, const Runner& run) {
  Program program;
  static_cast<runs::Command&>(program) = command;
  std::string allocator;
  gather(
      program,
      [&] {
        // Makes every third run beside busy threads, because the progress of a program depends on other load.
        std::optional<BusyCpus> busy;
        if (program.runs % 3 == 2) busy.emplace();
        runs::CommandRun found = run();
        if (!options.allow_failing) {
          check_exit_status(found, command.name, 0,
                            "give a command that succeeds without a terminal and input, or add --allow-failing");
        }
        allocator = found.allocator;
        if (options.notes != nullptr) *options.notes = found.notes;
        return found;
      },
      options.most_runs);
  program.measured_on = conditions_now(allocator);
  return program;
}

std::string name_of(const ProgramChange& change) { return name_of(row_of(change.metric), change.process); }

bool lasts(ProgramChange& change, const ProgramChange& again) {
  if (again.grew() != change.grew()) return false;
  change.after = change.grew() ? std::min(change.after, again.after) : std::max(change.after, again.after);
  return true;
}

Judged compare(const Program& named_before, const Program& named_after) {
  Program before = named_before;
  Program after = named_after;
  name_alike(before, after);
  runs::CommandRun run = nearest_run(after, before);
  Judged judged = compared(before, run);
  judged.first = std::move(run);
  judged.runs = after.runs;
  sort_changes(judged.changes);
  return judged;
}

Judged judge(const Program& baseline, const Runner& run) {
  runs::CommandRun first = run();
  Judged judged = compared(baseline, first);
  judged.first = std::move(first);
  judged.runs = 1;
  std::vector<std::string> gone;
  while (!judged.changes.empty() && judged.runs < most_checks(judged.changes)) {
    keep_lasting(judged.changes, compared(baseline, run()).changes, gone, [](const ProgramChange&) { return true; });
    ++judged.runs;
  }
  for (const std::string& name : gone) judged.not_compared.push_back({name, "not the same each time"});
  sort_changes(judged.changes);
  return judged;
}

}  // namespace zerotax::baseline
