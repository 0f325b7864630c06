#include "top/ui.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/lines.h"
#include "base/size.h"
#include "base/table.h"
#include "base/units.h"
#include "os/cgroup.h"
#include "os/clock.h"
#include "os/input_file.h"
#include "os/terminal.h"
#include "top/result.h"
#include "top/view.h"

namespace zerotax::top {
namespace {

struct SortKey {
  int key;
  Sort sort;
};
constexpr SortKey kSortKeys[] = {{'f', Sort::kFaults}, {'z', Sort::kZeroed}, {'r', Sort::kRefilled},
                                 {'c', Sort::kCpu},    {'m', Sort::kRss},    {'p', Sort::kPid}};
constexpr std::size_t kLongestFilter = 60;

std::string joined(const std::vector<std::string>& lines, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) text += (i > 0 ? "\n" : "") + lines[i];
  return text;
}

/// Inverts the line, as terminals show a selection (ECMA-48, SGR 7).
std::string marked(const std::string& line) { return "\x1b[7m" + line + "\x1b[0m"; }

/// Maximum number of threads that are read, so that a process with thousands of threads does not slow down the screen.
constexpr std::size_t kMostThreads = 512;

std::string cgroup_of(pid_t pid) { return memory_cgroup(text_of(fmt::format("/proc/{}/cgroup", pid))); }

std::string command_line_of(pid_t pid) {
  std::vector<std::string> words = process_command(pid);
  // Programs that change their title leave empty words at the end.
  while (!words.empty() && words.back().empty()) words.pop_back();
  return words.empty() ? process_name(pid) : fmt::format("{}", fmt::join(words, " "));
}

Measured<std::vector<MappingMemory>> mappings_of(pid_t pid) {
  auto mappings = read_smaps(pid);
  if (!mappings) return NotAvailable{"the mappings of this process cannot be read: root can read them"};
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

bool Ui::press(int key) {
  if (details_) {
    press_details(key);
  } else if (typing_) {
    press_filter(key);
  } else {
    return press_list(key);
  }
  return true;
}

bool Ui::press_list(int key) {
  if (key == 'q') return false;
  for (const SortKey& each : kSortKeys) {
    if (each.key == key) view_.sort = each.sort;
  }
  if (key == 'b') {
    view_.by = static_cast<By>((static_cast<std::size_t>(view_.by) + 1) % by_words().size());
    view_.members.reset();
  }
  if (key == '/') {
    typing_ = true;
    view_.filter.clear();
  }
  if (key == key::kEscape) {
    view_.filter.clear();
    view_.members.reset();
  }
  if (key == key::kUp || key == 'k') select(-1);
  if (key == key::kDown || key == 'j') select(1);
  if (key == key::kEnter) open();
  return true;
}

void Ui::press_filter(int key) {
  if (key == key::kEnter) {
    typing_ = false;
  } else if (key == key::kEscape) {
    typing_ = false;
    view_.filter.clear();
  } else if (key == key::kErase) {
    if (!view_.filter.empty()) view_.filter.pop_back();
  } else if (key >= ' ' && key < 256 && view_.filter.size() < kLongestFilter) {
    view_.filter += static_cast<char>(key);
  }
  selected_ = 0;
}

void Ui::press_details(int key) {
  if (key != 'q' && key != key::kEscape && key != key::kErase && key != key::kEnter) return;
  details_.reset();
  detail_.reset();
}

void Ui::select(std::ptrdiff_t step) {
  const auto last = static_cast<std::ptrdiff_t>(shown_.size()) - 1;
  selected_ = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(selected_) + step, 0, std::max<std::ptrdiff_t>(last, 0)));
}

/// Opens the selected row: the details of a process, or the processes of a group.
void Ui::open() {
  if (selected_ >= shown_.size()) return;
  const Usage& row = shown_[selected_];
  if (row.pid) {
    details_ = std::make_unique<DetailsWatch>(*row.pid);
    detail_ = details_->look();
    return;
  }
  view_.members = {view_.by, row.name};
  view_.by = By::kProcess;
  selected_ = 0;
}

void Ui::show(Sample sample) {
  sample_ = std::move(sample);
  if (details_) detail_ = details_->look();
}

std::string Ui::keys_line() const {
  if (!keys_) return "no keys: standard input is not this terminal; Ctrl-C ends";
  if (typing_) return "filter (Enter applies, Esc clears): " + one_line(view_.filter);
  std::string state = fmt::format("by {}, sorted by {}", word(view_.by), word(view_.sort));
  if (!view_.filter.empty()) state += ", filter '" + one_line(view_.filter) + "'";
  if (view_.members) state += ", of " + one_line(view_.members->second);
  return state;
}

std::string Ui::screen(std::size_t columns, std::size_t rows, const std::function<void(Sample&)>& complete) {
  if (details_) {
    std::vector<std::string> lines{fmt::format("process {} has ended", details_->pid())};
    if (detail_) lines = details_lines(*detail_, columns, rows > 1 ? rows - 1 : 1);
    lines.resize(std::min(lines.size(), rows > 1 ? rows - 1 : 1));
    lines.push_back(first_characters("Esc: back", columns));
    return joined(lines, rows);
  }
  if (!sample_) return first_characters("zerotax top: the first interval is not over yet; q ends", columns);
  Sample sample = *sample_;
  View view = view_;
  // Six lines surround the rows: three at the top, the heading, and two at the bottom.
  const std::size_t taken = 6 + sample.limits.size() + (keys_ ? 1 : 0);
  const std::size_t room = rows > taken + 1 ? rows - taken - 1 : 1;
  view.rows = view.rows > 0 ? std::min(view.rows, room) : room;
  arrange(sample, view, users_);
  complete(sample);
  shown_ = sample.rows;
  select(0);
  const Lines lines = top_lines(sample, columns);
  std::vector<std::string> all = lines.head;
  all.push_back(lines.heading);
  for (std::size_t i = 0; i < lines.rows.size(); ++i) {
    all.push_back(keys_ && i == selected_ ? marked(lines.rows[i]) : lines.rows[i]);
  }
  all.insert(all.end(), lines.foot.begin(), lines.foot.end());
  all.push_back(first_characters(keys_line(), columns));
  if (keys_) {
    all.push_back(first_characters("q quit  f z r c m p sort  / filter  b group  Enter details  Esc all", columns));
  }
  return joined(all, rows);
}

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
    // A thread that was not in the last interval began in the current interval, so all its faults are new.
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
  // Eight more lines: the headings of both tables, three hints, and blank lines.
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
