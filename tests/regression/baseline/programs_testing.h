#pragma once

#include <string>
#include <utility>

#include "baseline/result.h"

namespace zerotax::baseline {

/// Returns a run of one process. Every metric is 1,000 pages, except for the given metrics.
inline runs::CommandRun run_with(std::initializer_list<std::pair<runs::Metric, std::uint64_t>> values = {}) {
  runs::CommandRun run;
  for (const runs::MetricRow& row : runs::metric_rows()) {
    run.all[row.metric] = row.unit == Unit::kBytes ? std::uint64_t{4'096'000} : std::uint64_t{1000};
  }
  for (const auto& [metric, value] : values) run.all[metric] = value;
  run.processes["decoder"] = run.all;
  return run;
}

/// Adds a call site with this many calls, and with bytes of one kind.
inline void add_site(runs::CommandRun& run, record::SiteKind kind, std::vector<std::string> stack,
                     runs::SiteNumber number, std::uint64_t calls, std::uint64_t bytes, int line = 1) {
  runs::Site& site = run.sites[{kind, stack}];
  const std::string& words = stack.front();
  site.place = {words.substr(0, words.find(' ')), "decoder.cc", line};
  site.numbers[runs::SiteNumber::kCalls] = calls;
  site.numbers[number] = bytes;
}

inline Program program_of(const std::vector<runs::CommandRun>& runs) {
  Program program;
  program.name = "decoder";
  program.command = {"./decoder", "input.bin"};
  for (const runs::CommandRun& run : runs) add_run(program, run);
  return program;
}

/// Returns a runner that returns these runs one after the other, and then the last run forever.
inline Runner runner_of(std::vector<runs::CommandRun> runs) {
  return [runs, next = std::size_t{0}]() mutable { return runs[std::min(next++, runs.size() - 1)]; };
}

}  // namespace zerotax::baseline
