#include "top/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "files/line_file.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "os/faults.h"
#include "os/print.h"
#include "os/process_info.h"
#include "os/terminal.h"
#include "run/interrupt.h"
#include "top/account.h"
#include "top/process_table.h"
#include "top/prometheus.h"
#include "top/result.h"
#include "top/ui.h"

namespace zerotax::top {
namespace {

constexpr std::uint64_t kTimedBytes = std::uint64_t{4} << 20;
/// Number of timings that count. One earlier timing is discarded, because the memory is then still in a different
/// state.
constexpr int kTimings = 5;

/// Pause after reading the number of huge pages, as a multiple of the CPU time that the read took.
constexpr std::int64_t kPause = 1000;
/// Limit of CPU time for reading the numbers of huge pages in one interval.
constexpr std::int64_t kMostNs = 2'000'000;
/// Time after which the last value of a process that is no longer shown is forgotten.
constexpr std::int64_t kForgottenNs = 60'000'000'000;

/// Huge pages of the processes shown. Reading /proc/PID/smaps_rollup walks page tables, so processes take turns, and
/// all reads together use a thousandth of one CPU. Between two reads of a process, its last value is shown. Nothing is
/// read if the machine has no huge pages mapped.
class HugePages {
 public:
  /// Sets `huge_bytes` of rows that are processes. `mapped` is the number of huge pages that are mapped on the whole
  /// machine.
  void fill(Sample& sample, const std::optional<std::uint64_t>& mapped);

 private:
  struct Seen {
    Measured<std::uint64_t> bytes = NotAvailable{"not read yet"};
    std::int64_t at_ns = 0;
    std::int64_t shown_ns = 0;
  };

  std::map<std::pair<pid_t, std::uint64_t>, Seen> seen_;
  std::int64_t next_ns_ = 0;
};

/// Measures the intervals of this machine. Each interval contains all processes, and the cost of zerotax top itself.
class Watch {
 public:
  /// Takes the first scan. Throws MachineError if /proc is not mounted.
  explicit Watch(bool cgroups);

  /// Returns the interval since the last call.
  Sample next();
  /// Sets `huge_bytes` of the rows in `sample`. Call this for shown rows only, because reading is expensive.
  void add_huge_pages(Sample& sample) { huge_.fill(sample, huge_now_); }
  void read_cgroups(bool cgroups) { table_.read_cgroups(cgroups); }

 private:
  ProcessTable table_;
  Account account_;
  HugePages huge_;
  std::optional<std::uint64_t> huge_now_;
  std::int64_t cpu_ns_ = 0;
};

/// Returns the CPU time of a zero-fill fault of a small page on this machine, in nanoseconds: the median of several
/// timings.
Measured<double> time_fault() {
  std::vector<double> costs;
  for (int i = 0; i <= kTimings; ++i) {
    const FaultSample sample = measure_fault_cost(kTimedBytes, PageKind::kBase);
    if (i > 0 && sample.faults > 0) {
      costs.push_back(static_cast<double>(sample.cpu_ns) / static_cast<double>(sample.faults));
    }
  }
  if (costs.empty()) return NotAvailable{"no memory could be populated to time a fault"};
  return quantile(costs, 0.5);
}

Watch::Watch(bool cgroups) : table_(cgroups), account_(time_fault()) {
  account_.advance(table_.look());
  cpu_ns_ = own_cpu_ns();
}

Sample Watch::next() {
  const Look look = table_.look();
  huge_now_ = look.machine.huge_pages_now;
  Sample sample = *account_.advance(look);
  sample.schema = "zerotax.top/1";
  sample.zerotax_version = ZEROTAX_VERSION;
  sample.time = utc_now();
  sample.limits = table_.limits();
  // The CPU time includes printing the previous interval.
  const std::int64_t used = own_cpu_ns();
  sample.own.cpu_ns = used - cpu_ns_;
  sample.own.cpu_share = sample.interval_s > 0 ? static_cast<double>(sample.own.cpu_ns) / 1e9 / sample.interval_s : 0;
  cpu_ns_ = used;
  return sample;
}

void HugePages::fill(Sample& sample, const std::optional<std::uint64_t>& mapped) {
  std::vector<std::pair<Usage*, Seen*>> order;
  const std::int64_t now = monotonic_ns();
  for (Usage& row : sample.rows) {
    if (!row.pid) continue;
    row.huge_bytes = 0;
    if (mapped == std::optional<std::uint64_t>(0)) continue;
    Seen& seen = seen_[{*row.pid, row.start_ticks.value_or(0)}];
    seen.shown_ns = now;
    order.emplace_back(&row, &seen);
  }
  std::erase_if(seen_, [&](const auto& entry) { return now - entry.second.shown_ns > kForgottenNs; });
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& one, const auto& other) { return one.second->at_ns < other.second->at_ns; });
  if (now >= next_ns_ && !order.empty()) {
    const std::int64_t begin = thread_cpu_ns();
    std::int64_t used = 0;
    for (const auto& [row, seen] : order) {
      if (used > kMostNs) break;
      seen->bytes = {rollup_bytes(*row->pid, "AnonHugePages"),
                     "the memory of this process cannot be read: root can read it"};
      seen->at_ns = now;
      used = thread_cpu_ns() - begin;
    }
    next_ns_ = now + used * kPause;
  }
  for (const auto& [row, seen] : order) row->huge_bytes = seen->bytes;
}

constexpr std::size_t kUsualRows = 20;

/// The output files of the command line.
class Files {
 public:
  explicit Files(const Request& request) : request_(request), prometheus_(request.view.by) {
    if (!request.json.empty()) json_.emplace(request.json);
    if (!request.log.empty()) log_.emplace(request.log, request.log_bytes);
  }

  /// Whether some output file takes a line of JSON per sample.
  [[nodiscard]] bool has_lines() const { return json_ || log_; }

  /// Adds a sample with all its rows to the Prometheus totals.
  void add_all(Sample& sample, Users& users) {
    if (request_.prometheus.empty()) return;
    for (Usage& row : sample.rows) row.user = users.name(row.uid);
    prometheus_.add(sample);
    write_file(request_.prometheus, prometheus_.text(std::time(nullptr)));
  }

  /// Writes the rows that the view selects.
  void add(const Sample& shown) {
    if (!json_ && !log_) return;
    const std::string line = json_line(Json(shown));
    if (json_) json_->add(line);
    if (log_) log_->add(line);
  }

 private:
  const Request& request_;
  std::optional<LineFile> json_;
  std::optional<BoundedLog> log_;
  Prometheus prometheus_;
};

/// Due times of samples, at whole intervals since the start. Due times that have passed are skipped.
class Pace {
 public:
  explicit Pace(double interval_s) : interval_ns_(static_cast<std::int64_t>(interval_s * 1e9)) {}
  [[nodiscard]] std::int64_t due() const { return due_ns_; }
  void advance() {
    const std::int64_t now = monotonic_ns();
    due_ns_ += (std::max<std::int64_t>(now - due_ns_, 0) / interval_ns_ + 1) * interval_ns_;
  }

 private:
  std::int64_t interval_ns_;
  std::int64_t due_ns_ = monotonic_ns() + interval_ns_;
};

bool all_ended(const Request& request, const Sample& all) {
  return !request.view.pids.empty() && std::none_of(all.rows.begin(), all.rows.end(), [&](const Usage& row) {
    return std::count(request.view.pids.begin(), request.view.pids.end(), *row.pid) != 0;
  });
}

/// Flushes after each sample, because a program that reads from the pipe may wait for the sample.
void print_sample(const std::string& text) {
  print_lines(stdout, text);
  if (std::fflush(stdout) != 0) {
    throw std::system_error(errno, std::generic_category(), "standard output");
  }
}

ExitStatus run_lines(const Request& request, Watch& watch, Files& files) {
  View view = request.view;
  if (!request.has_rows) view.rows = kUsualRows;
  const bool prints = request.json != "-";
  SignalGate gate;
  Users users;
  Pace pace(request.interval_s);
  for (std::uint64_t taken = 0; !request.samples || taken < *request.samples; ++taken) {
    while (interrupted() == 0 && monotonic_ns() < pace.due()) gate.wait(pace.due());
    if (interrupted() != 0) break;
    pace.advance();
    Sample sample = watch.next();
    const bool over = all_ended(request, sample);
    files.add_all(sample, users);
    arrange(sample, view, users);
    watch.add_huge_pages(sample);
    files.add(sample);
    if (prints) print_sample((taken > 0 ? "\n" : "") + top_text(sample, terminal_columns(stdout)));
    if (over) break;
  }
  return ExitStatus::kDone;
}

ExitStatus run_screen(const Request& request, Watch& watch, Files& files) {
  Screen screen;
  Ui ui(request.view, screen.keys());
  View logged = request.view;
  if (!request.has_rows) logged.rows = kUsualRows;
  Users users;
  Pace pace(request.interval_s);
  std::uint64_t taken = 0;
  while (interrupted() == 0) {
    const auto complete = [&](Sample& sample) { watch.add_huge_pages(sample); };
    screen.draw(ui.screen(screen.columns(), screen.rows(), complete));
    const int pressed = screen.next_key(pace.due());
    if (pressed != key::kNone) {
      if (pressed != key::kRedraw && !ui.press(pressed)) break;
      watch.read_cgroups(ui.view().by == By::kCgroup || request.view.by == By::kCgroup);
      continue;
    }
    if (interrupted() != 0 || monotonic_ns() < pace.due()) continue;
    pace.advance();
    Sample all = watch.next();
    files.add_all(all, users);
    if (files.has_lines()) {
      Sample shown = all;
      arrange(shown, logged, users);
      watch.add_huge_pages(shown);
      files.add(shown);
    }
    if (all_ended(request, all)) break;
    ui.show(std::move(all));
    if (request.samples && ++taken >= *request.samples) break;
  }
  return ExitStatus::kDone;
}

}  // namespace

ExitStatus run_top(const Request& request) {
  Files files(request);
  Watch watch(request.view.by == By::kCgroup);
  const bool screen = request.json != "-" && !(request.samples && *request.samples == 1) && suits_screen(stdout);
  return screen ? run_screen(request, watch, files) : run_lines(request, watch, files);
}

}  // namespace zerotax::top
