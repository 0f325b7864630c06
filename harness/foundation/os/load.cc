#include "os/load.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stop_token>
#include <string>

#include "os/clock.h"

namespace zerotax {
namespace {

constexpr double kQuiet = 0.1;
constexpr double kBusy = 0.5;
/// Threshold for the share of the machine's CPUs that other programs use. It is half of kBusy, because zerotax's own
/// processes may take half of the CPU time that other programs want.
constexpr double kBusyShare = kBusy / 2;
/// Shortest interval to evaluate, because /proc/stat counts in hundredths of a second.
constexpr std::int64_t kShortestNs = 500'000'000;
constexpr std::int64_t kNsPerS = 1'000'000'000;

std::int64_t used_by(int who) {
  rusage usage{};
  if (::getrusage(who, &usage) != 0) return 0;
  return in_ns(usage.ru_utime) + in_ns(usage.ru_stime);
}

/// Returns the CPU time that is neither idle nor waiting: user, nice, system, irq, softirq. Time that the host took
/// (steal) belongs to no program.
std::optional<std::int64_t> busy_ns() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0;
  if (!(file >> cpu >> user >> nice >> system >> idle >> waiting >> irq >> softirq) || cpu != "cpu")
    return std::nullopt;
  return (user + nice + system + irq + softirq) * (kNsPerS / ::sysconf(_SC_CLK_TCK));
}

std::optional<double> others_cpus(const LoadReading& start, const LoadReading& end) {
  const std::int64_t took = end.now_ns - start.now_ns;
  if (!start.all_ns || !end.all_ns || took < kShortestNs) return std::nullopt;
  const std::int64_t others = (*end.all_ns - *start.all_ns) - (end.own_ns - start.own_ns);
  return static_cast<double>(std::max<std::int64_t>(others, 0)) / static_cast<double>(took);
}

double rounded(double value) { return std::round(value * 100) / 100; }

Measured<double> or_na(const std::optional<double>& value, const char* why) {
  return value ? Measured(rounded(*value)) : NotAvailable{why};
}

}  // namespace

LoadLevel load_level(double load, std::size_t cpus) {
  const double each = load / static_cast<double>(std::max<std::size_t>(cpus, 1));
  return each >= kBusy ? LoadLevel::kBusy : each >= kQuiet ? LoadLevel::kNoisy : LoadLevel::kQuiet;
}

std::size_t allowed_cpus() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<std::size_t>(CPU_COUNT(&set));
  return static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

LoadReading read_load() {
  LoadReading reading;
  double load = 0;
  if (::getloadavg(&load, 1) == 1) reading.load = load;
  reading.now_ns = monotonic_ns();
  reading.all_ns = busy_ns();
  reading.own_ns = used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
  return reading;
}

std::optional<std::uint64_t> started_tasks() {
  std::ifstream file("/proc/stat");
  for (std::string name; file >> name; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    std::uint64_t count = 0;
    if (name == "processes" && file >> count) return count;
  }
  return std::nullopt;
}

Load load_between(const LoadReading& start, const LoadReading& end, std::size_t cpus) {
  const auto others = others_cpus(start, end);
  const auto machine = static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  const bool loaded = start.load && load_level(*start.load, cpus) == LoadLevel::kBusy;
  Load load{cpus,
            or_na(start.load, "getloadavg failed"),
            or_na(end.load, "getloadavg failed"),
            or_na(others, start.all_ns && end.all_ns ? "it took less than half a second" : "/proc/stat cannot be read"),
            others ? *others / machine >= kBusyShare : loaded,
            {}};
  const auto average = [](const std::optional<double>& each) { return each ? fmt::format("{:.2f}", *each) : "n/a"; };
  load.sentence = fmt::format("{}: load average {} at the start and {} at the end, {} CPU{}{}.",
                              load.busy ? "Measured under load" : "Measured on a machine that was not loaded",
                              average(start.load), average(end.load), cpus, cpus == 1 ? "" : "s",
                              others ? fmt::format("; other programs kept {:.2f} CPUs busy meanwhile", *others) : "");
  return load;
}

BusyCpus::BusyCpus(std::size_t threads) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
      }
    });
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace zerotax
