#include "top/details.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/one_line.h"
#include "base/size.h"
#include "base/table.h"
#include "base/units.h"
#include "os/cgroup.h"
#include "os/clock.h"
#include "os/text_of.h"
#include "top/view.h"

namespace zerotax::top {
namespace {

/// A process of thousands of threads is not looked at for longer than this allows.
constexpr std::size_t kMostThreads = 512;

std::string cgroup_of(pid_t pid) { return memory_cgroup(text_of(fmt::format("/proc/{}/cgroup", pid))); }

std::string command_line_of(pid_t pid) {
  std::vector<std::string> words = process_command(pid);
  // Programs that set their title leave empty words behind it.
  while (!words.empty() && words.back().empty()) words.pop_back();
  return words.empty() ? process_name(pid) : fmt::format("{}", fmt::join(words, " "));
}

Measured<std::vector<MappingMemory>> mappings_of(pid_t pid) {
  auto mappings = read_smaps(pid);
  if (!mappings) return NotAvailable{"the mappings of this process may not be looked at: root may"};
  std::erase_if(*mappings, [](const MappingMemory& mapping) { return mapping.anonymous == 0; });
  std::stable_sort(mappings->begin(), mappings->end(), [](const MappingMemory& one, const MappingMemory& other) {
    return one.anonymous > other.anonymous;
  });
  return std::move(*mappings);
}

void add_table(std::vector<std::string>& lines, const Table& table) {
  std::istringstream text(table.text());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
}

Table threads_table(const Details& details, std::size_t most) {
  Table table({{"thread", Unit::kText, 7}, {"faults/s", Unit::kCount, 10}, {"cpu", Unit::kWholePercent, 6}, {"name"}});
  const double seconds = std::max(details.interval_s, 1e-9);
  for (std::size_t i = 0; i < std::min(most, details.usage.size()); ++i) {
    const ThreadUsage& thread = details.usage[i];
    table.add({fmt::format("{}", thread.tid), std::round(static_cast<double>(thread.faults) / seconds),
               static_cast<double>(thread.cpu_ns) / 1e9 / seconds, one_line(thread.name)});
  }
  return table;
}

Table mappings_table(const std::vector<MappingMemory>& mappings, std::size_t most) {
  Table table({{"anonymous", Unit::kBytes, 9}, {"huge", Unit::kBytes, 9}, {"mapped", Unit::kBytes, 9}, {"mapping"}});
  for (std::size_t i = 0; i < std::min(most, mappings.size()); ++i) {
    const MappingMemory& mapping = mappings[i];
    table.add({mapping.anonymous, mapping.huge, mapping.mapped,
               mapping.name.empty() ? fmt::format("{:x} (no name)", mapping.begin) : one_line(mapping.name)});
  }
  return table;
}

}  // namespace

DetailsWatch::DetailsWatch(pid_t pid) : pid_(pid) {
  details_.pid = pid;
  details_.command_line = command_line_of(pid);
  details_.cgroup = cgroup_of(pid);
  const auto facts = process_facts(pid);
  start_ticks_ = facts ? facts->start_ticks : 0;
  if (facts) details_.user = Users().name(facts->user);
  details_.mappings = mappings_of(pid);
}

std::optional<Details> DetailsWatch::look() {
  const auto facts = process_facts(pid_);
  if (!facts || facts->start_ticks != start_ticks_ || facts->state == 'Z') return std::nullopt;
  details_.parent = facts->parent;
  const std::int64_t now = monotonic_ns();
  std::vector<pid_t> threads = process_threads(pid_);
  details_.threads = threads.size();
  threads.resize(std::min(threads.size(), kMostThreads));
  std::map<pid_t, ThreadTimes> times;
  details_.usage.clear();
  for (const pid_t tid : threads) {
    const auto is = thread_times(pid_, tid);
    if (!is) continue;
    times[tid] = *is;
    const auto was = before_.find(tid);
    // A thread that was not there began since: all of it is new.
    if (time_ns_ == 0) continue;
    const ThreadTimes old = was != before_.end() ? was->second : ThreadTimes{};
    const std::int64_t cpu = is->user_ns + is->system_ns - old.user_ns - old.system_ns;
    details_.usage.push_back(
        {tid, thread_name(pid_, tid), less(is->faults, old.faults), std::max<std::int64_t>(cpu, 0)});
  }
  std::stable_sort(details_.usage.begin(), details_.usage.end(),
                   [](const ThreadUsage& one, const ThreadUsage& other) { return one.faults > other.faults; });
  details_.interval_s = static_cast<double>(now - time_ns_) / 1e9;
  before_ = std::move(times);
  time_ns_ = now;
  return details_;
}

std::vector<std::string> details_lines(const Details& details, std::size_t columns, std::size_t lines) {
  std::vector<std::string> found{
      fmt::format("process {} of {}, child of {}: {}", details.pid, details.user, details.parent,
                  format_counted(details.threads, "thread")),
      one_line(details.command_line),
  };
  if (!details.cgroup.empty()) found.push_back("cgroup: " + one_line(details.cgroup));
  found.emplace_back();
  // The heading of each table, three lines of hints, and two blank ones.
  const std::size_t rest = lines > found.size() + 8 ? lines - found.size() - 8 : 1;
  add_table(found, threads_table(details, std::max<std::size_t>(rest / 2, 1)));
  found.emplace_back();
  if (details.mappings) {
    add_table(found, mappings_table(*details.mappings, std::max<std::size_t>(rest / 2, 1)));
  } else {
    found.push_back("n/a: " + details.mappings.why());
  }
  found.emplace_back();
  found.push_back("Which call sites fault and refill:   zerotax record --pid " + std::to_string(details.pid));
  found.push_back("Which functions use its CPU time:    zerotax profile --pid " + std::to_string(details.pid));
  found.push_back("Which faults it takes, one by one:   zerotax cow --pid " + std::to_string(details.pid));
  for (std::string& line : found) line = first_characters(std::move(line), columns);
  if (found.size() > lines) found.resize(lines);
  return found;
}

}  // namespace zerotax::top
