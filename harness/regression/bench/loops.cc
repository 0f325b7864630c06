#include <algorithm>
#include <cmath>

#include "bench/suite.h"

namespace zerotax::bench {
namespace {

using Marks = std::vector<const record::Mark*>;

double difference(std::uint64_t before, std::uint64_t after) {
  return static_cast<double>(static_cast<std::int64_t>(after - before));
}

/// Adds what happened between two marks.
void add_between(const record::Mark& begin, const record::Mark& end, Counts& counts) {
  const double grown = difference(begin.anonymous_bytes, end.anonymous_bytes);
  const double returned = difference(begin.returned_bytes, end.returned_bytes);
  const double zeroed = std::max(0.0, grown + returned);
  const double new_peak = difference(begin.peak_bytes, end.peak_bytes);
  counts.minor_faults += difference(begin.minor_faults, end.minor_faults);
  counts.kernel_zeroed_bytes += zeroed;
  counts.refilled_bytes += std::max(0.0, zeroed - new_peak);
  counts.returned_bytes += returned;
  counts.zeroed_bytes += difference(begin.zeroed_bytes, end.zeroed_bytes);
  counts.by_hand_bytes += difference(begin.by_hand_bytes, end.by_hand_bytes);
  counts.calls += difference(begin.calls, end.calls);
}

/// The time from mark `at` to the next, and of every other such stretch after it. Nothing if they are not of one
/// thread.
std::optional<double> length_of(const Loop& loop, const Marks& marks, const std::vector<bool>& used, std::size_t at) {
  if (at + 2 * loop.stretches > marks.size()) return std::nullopt;
  double ns = 0;
  for (std::size_t i = at; i < at + 2 * loop.stretches; ++i) {
    const bool begins = (i - at) % 2 == 0;
    if ((begins && used[i]) || marks[i]->tid != marks[at]->tid || marks[i]->pid != marks[at]->pid) return std::nullopt;
    if (!begins) ns += static_cast<double>(marks[i]->ns - marks[i - 1]->ns);
    if (ns > loop.ns + loop.slack_ns) return std::nullopt;
  }
  return ns;
}

/// Finds a loop by its length, and adds what happened in it. False if it is not there.
bool add_loop(const Loop& loop, const Marks& marks, std::vector<bool>& used, Counts& counts) {
  double best = loop.slack_ns;
  std::size_t found = marks.size();
  for (std::size_t at = 0; at < marks.size(); ++at) {
    const std::optional<double> ns = length_of(loop, marks, used, at);
    if (!ns || std::abs(*ns - loop.ns) >= best) continue;
    best = std::abs(*ns - loop.ns);
    found = at;
  }
  if (found == marks.size()) return false;
  for (std::size_t i = found; i < found + 2 * loop.stretches; i += 2) {
    add_between(*marks[i], *marks[i + 1], counts);
    // The end of one may be where the next begins.
    used[i] = true;
  }
  return true;
}

}  // namespace

std::map<std::string, Measured<Counts>> counts_of(const std::vector<Reported>& repetitions, const Marks& marks) {
  std::map<std::string, Measured<Counts>> all;
  std::map<std::string, double> iterations;
  std::vector<bool> used(marks.size(), false);
  for (const Reported& each : repetitions) {
    Measured<Counts>& counts = all.try_emplace(each.name, Counts{}).first->second;
    for (const Loop& loop : each.loops) {
      if (counts && !add_loop(loop, marks, used, *counts)) {
        counts = NotAvailable{"its timed loop was not found: it pauses its clock, has threads, or times itself"};
      }
      iterations[each.name] += loop.iterations;
    }
  }
  for (auto& [name, counts] : all) {
    if (!counts) continue;
    for (const CountRow& row : kCounts) *counts.*row.of /= iterations[name];
  }
  return all;
}

}  // namespace zerotax::bench
