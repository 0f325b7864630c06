#include "top/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <system_error>

#include "files/line_file.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "os/keys.h"
#include "os/print.h"
#include "os/terminal.h"
#include "run/interrupt.h"
#include "top/prometheus.h"
#include "top/table.h"
#include "top/ui.h"
#include "top/watch.h"

namespace zerotax::top {
namespace {

constexpr std::size_t kUsualRows = 20;

/// The files that a request names.
class Files {
 public:
  explicit Files(const Request& request) : request_(request), prometheus_(request.view.by) {
    if (!request.json.empty()) json_.emplace(request.json);
    if (!request.log.empty()) log_.emplace(request.log, request.log_bytes);
  }

  /// Whether there is a file of lines.
  [[nodiscard]] bool has_lines() const { return json_ || log_; }

  /// A sample with all its rows: totals for Prometheus.
  void add_all(Sample& sample, Users& users) {
    if (request_.prometheus.empty()) return;
    for (Usage& row : sample.rows) row.user = users.name(row.uid);
    prometheus_.add(sample);
    write_file(request_.prometheus, prometheus_.text(std::time(nullptr)));
  }

  /// The rows that were asked for.
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

/// When samples are due: at whole intervals since the start. One that was missed is left out.
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

/// Prints each sample at once, because a reader of a pipe may wait for it.
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
