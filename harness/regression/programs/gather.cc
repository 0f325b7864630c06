#include "programs/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "os/load.h"
#include "programs/document.h"

namespace zerotax::programs {
namespace {

constexpr std::uint64_t kFewestRuns = 3;

bool add_values(Ranges& ranges, const Values& values, bool first) {
  bool grew = false;
  for (const MetricRow& row : metric_rows()) {
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

bool add_processes(Program& program, const CommandRun& run, bool first) {
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

void add_sites(Program& program, const CommandRun& run, bool first) {
  for (auto& [key, site] : program.sites) {
    const auto found = run.sites.find(key);
    for (std::size_t i = 0; i < kSiteNumbers; ++i) {
      site.numbers.all[i].add(found == run.sites.end() ? 0 : found->second.numbers.all[i]);
    }
  }
  for (const auto& [key, site] : run.sites) {
    const auto [entry, is_new] = program.sites.try_emplace(key);
    if (!is_new) continue;
    entry->second.place = site.place;
    for (std::size_t i = 0; i < kSiteNumbers; ++i) {
      const std::uint64_t value = site.numbers.all[i];
      entry->second.numbers.all[i] = {first ? value : 0, value};
    }
  }
}

}  // namespace

const Values& no_values() {
  static const Values values = [] {
    Values made;
    made.all.fill(std::uint64_t{0});
    return made;
  }();
  return values;
}

bool add_run(Program& program, const CommandRun& run) {
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

void Gathering::add(const CommandRun& run) {
  if (program_.runs != 0 && run.exit_status != program_.exit_status) {
    throw UsageError(fmt::format("'{}' ended with exit status {}, and {} before", program_.name, run.exit_status,
                                 program_.exit_status),
                     "give a command that ends alike each time");
  }
  varied_ = add_run(program_, run) || varied_;
}

void gather(Program& program, const Runner& run, std::uint64_t most) {
  Gathering gathering(program);
  while (program.runs < gather_runs(most) && !gathering.is_done()) gathering.add(run());
}

void check_exit_status(const CommandRun& run, const std::string& name, int expected, const std::string& remedy) {
  if (run.exit_status == expected) return;
  const std::string how = run.exit_status == 0 ? "ended with exit status 0" : run.notes.front();
  throw UsageError(fmt::format("'{}' {}{}", name, how, expected == 0 ? "" : fmt::format(", not {}", expected)), remedy);
}

Program measured(const Command& command, const Measuring& measuring, const Runner& run) {
  Program program;
  static_cast<Command&>(program) = command;
  std::string allocator;
  gather(
      program,
      [&] {
        // Each third run is beside busy threads, because the progress of a program depends on other load.
        std::optional<BusyCpus> busy;
        if (program.runs % 3 == 2) busy.emplace();
        CommandRun found = run();
        if (!measuring.allow_failing) {
          check_exit_status(found, command.name, 0,
                            "give a command that succeeds without a terminal and input, or add --allow-failing");
        }
        allocator = found.allocator;
        if (measuring.notes != nullptr) *measuring.notes = found.notes;
        return found;
      },
      measuring.most_runs);
  program.measured_on = conditions_now(allocator);
  return program;
}

}  // namespace zerotax::programs
