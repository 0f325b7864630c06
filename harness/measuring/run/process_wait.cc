#include "run/process_wait.h"

#include <poll.h>

#include <algorithm>
#include <cmath>

#include "os/child.h"
#include "os/clock.h"
#include "os/process_info.h"
#include "run/interrupt.h"
#include "run/progress.h"

namespace zerotax {

namespace {

/// Pause between two checks in milliseconds, with `look` and without. A signal ends the pause early.
constexpr int kLookMs = 20;
constexpr int kIdleMs = 500;

/// `pid` is 0 to wait for no process.
bool wait(const std::string& what, const std::string& name, double seconds, pid_t pid,
          const std::function<void()>& look) {
  const auto has_ended = [pid] { return pid != 0 && !is_running(pid); };
  // A pidfd reports the end of the process at once. If no pidfd is available (Linux < 5.3, or another user's process),
  // the process is polled.
  const UniqueFd end = pid == 0 ? UniqueFd() : open_pidfd(pid);
  const int pause_ms = look || (pid != 0 && !end) ? kLookMs : kIdleMs;
  const std::int64_t start = monotonic_ns();
  const auto whole = static_cast<std::size_t>(std::max(1.0, std::ceil(seconds)));
  Progress progress(what, whole, static_cast<double>(whole));
  const auto passed = [&] { return static_cast<double>(monotonic_ns() - start) / 1e9; };
  std::size_t told = 0;
  bool ended = has_ended();
  while (!ended && passed() < seconds && interrupted() == 0) {
    if (look) look();
    for (; passed() >= static_cast<double>(told + 1); ++told) progress.advance(1);
    progress.show(name);
    pollfd ends{end.get(), POLLIN, 0};
    ::poll(&ends, 1, static_cast<int>(std::clamp(1e3 * (seconds - passed()), 1.0, static_cast<double>(pause_ms))));
    ended = has_ended();
  }
  progress.clear();
  return ended;
}

}  // namespace

bool wait_for_process(const std::string& what, pid_t pid, double seconds, const std::function<void()>& look) {
  return wait(what, process_name(pid), seconds, pid, look);
}

bool wait_for_seconds(const std::string& what, double seconds) {
  return wait(what, "running processes", seconds, 0, {});
}

}  // namespace zerotax
