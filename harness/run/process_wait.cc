#include "run/process_wait.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "os/clock.h"
#include "os/process_info.h"
#include "run/interrupt.h"
#include "run/progress.h"

namespace zerotax {

namespace {

bool wait(const std::string& what, const std::string& name, double seconds, const std::function<bool()>& has_ended,
          const std::function<void()>& look) {
  constexpr std::chrono::milliseconds kLookAgain{20};
  const std::int64_t start = monotonic_ns();
  const auto whole = static_cast<std::size_t>(std::max(1.0, std::ceil(seconds)));
  Progress progress(what, whole, static_cast<double>(whole));
  const auto passed = [&] { return static_cast<double>(monotonic_ns() - start) / 1e9; };
  std::size_t told = 0;
  bool ended = has_ended();
  while (!ended && passed() < seconds && interrupted() == 0) {
    look();
    for (; passed() >= static_cast<double>(told + 1); ++told) progress.advance(1);
    progress.show(name);
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(
        kLookAgain, std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * std::max(0.0, seconds - passed())))));
    ended = has_ended();
  }
  progress.clear();
  return ended;
}

}  // namespace

bool wait_for_process(const std::string& what, pid_t pid, double seconds, const std::function<void()>& look) {
  return wait(
      what, process_name(pid), seconds, [pid] { return !is_running(pid); }, look);
}

bool wait_for_seconds(const std::string& what, double seconds) {
  return wait(
      what, "running processes", seconds, [] { return false; }, [] {});
}

}  // namespace zerotax
