// Measures how many faults per second zerotax cow can follow without loss. One or two processes take faults and do
// nothing else. The kernel's buffer has one of two sizes, and is read at several intervals. The programs report their
// own faults (getrusage). The comparison reveals faults that were neither counted nor reported as lost. Only the few
// faults before the program's exec are not watched.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cow/run.h"
#include "os/clock.h"
#include "os/foreground.h"
#include "os/page.h"
#include "run/interrupt.h"

namespace {

using namespace zerotax;
using zerotax::cow::cow_command;
using zerotax::cow::CowRun;

long faults_of(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

void fault_for(std::int64_t milliseconds) {
  constexpr std::size_t kBytes = std::size_t{16} << 20;
  auto* memory =
      static_cast<char*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED || ::madvise(memory, kBytes, MADV_NOHUGEPAGE) != 0) ::_exit(3);
  for (const std::int64_t end = monotonic_ns() + milliseconds * 1'000'000; monotonic_ns() < end;) {
    for (std::size_t at = 0; at < kBytes; at += page_bytes()) *static_cast<volatile char*>(memory + at) = 1;
    ::madvise(memory, kBytes, MADV_DONTNEED);
  }
}

/// The traced program. Writes the number of its own faults, and the number of its children's faults.
int work(int processes, std::int64_t milliseconds, const std::string& file) {
  for (int i = 1; i < processes; ++i) {
    if (::fork() != 0) continue;
    fault_for(milliseconds);
    ::_exit(0);
  }
  fault_for(milliseconds);
  while (::wait(nullptr) > 0) continue;
  std::ofstream(file) << faults_of(RUSAGE_SELF) + faults_of(RUSAGE_CHILDREN);
  return 0;
}

struct Setting {
  const char* method;
  int processes;
  std::size_t buffer_bytes;
  int pause_ms;
  bool log;
};

struct Seen {
  double rate = 0;   ///< faults per second, as reported by the program
  double share = 0;  ///< share of the program's faults that zerotax cow counted
  std::uint64_t lost = 0;
};

Seen follow(const std::string& self, const Setting& setting, int milliseconds) {
  const std::string file = fmt::format("/tmp/zerotax-fault-rate-{}", ::getpid());
  ::setenv("ZEROTAX_FAULTS", setting.method, 1);
  FaultTracerOptions options;
  options.buffer_bytes = setting.buffer_bytes;
  options.pause = std::chrono::milliseconds(setting.pause_ms);
  if (setting.log) options.faults_file = file + ".log";
  const CowRun run = cow_command(
      {self, "--work", std::to_string(setting.processes), "--ms", std::to_string(milliseconds), "--to", file}, options);
  double faults = 0;
  if (!(std::ifstream(file) >> faults)) throw MachineError("the program left no count", "run it by hand");
  ::unlink(file.c_str());
  ::unlink((file + ".log").c_str());
  std::uint64_t counted = 0;
  for (const TracedProcess& process : run.data.processes) counted += process.counts.all();
  return {faults / run.wall_s, static_cast<double>(counted) / faults, run.data.lost};
}

double untraced(const std::string& self, int processes, int milliseconds) {
  const std::string file = fmt::format("/tmp/zerotax-fault-rate-{}", ::getpid());
  const ForegroundResult result =
      run_foreground({self,
                      {self, "--work", std::to_string(processes), "--ms", std::to_string(milliseconds), "--to", file},
                      {},
                      restore_interrupts});
  double faults = 0;
  std::ifstream(file) >> faults;
  ::unlink(file.c_str());
  return faults * 1e9 / static_cast<double>(result.wall_ns);
}

int run(const std::string& self, bool smoke, int milliseconds) {
  std::vector<Setting> settings;
  for (const char* method : {"tracepoints", "software"}) {
    if (::geteuid() != 0 && std::string(method) == "tracepoints") {
      fmt::print("{:<12} n/a: tracepoints are root's\n", method);
      continue;
    }
    for (const int processes : {1, 2}) {
      for (const std::size_t buffer : {std::size_t{512} << 10, std::size_t{8} << 20}) {
        for (const int pause : {10, 50, 100, 200}) {
          if (smoke && (pause != 10 || processes != 1)) continue;
          settings.push_back({method, processes, buffer, pause, false});
        }
      }
      settings.push_back({method, processes, std::size_t{8} << 20, 10, true});
    }
  }
  fmt::print("{:<12} {:>9} {:>8} {:>10} {:>9} {:>9} {:>10} {:>9}\n", "method", "processes", "buffer", "read every",
             "--faults", "faults/s", "lost", "counted");
  for (const int processes : {1, 2}) {
    fmt::print("{:<12} {:>9} {:>8} {:>10} {:>9} {:>9.0f}\n", "untraced", processes, "-", "-", "-",
               untraced(self, processes, milliseconds));
  }
  std::map<std::string, double> best;
  for (const Setting& setting : settings) {
    const Seen seen = follow(self, setting, milliseconds);
    if (interrupted() != 0) return 128 + interrupted();
    if (seen.lost == 0) best[setting.method] = std::max(best[setting.method], seen.rate);
    fmt::print("{:<12} {:>9} {:>8} {:>7} ms {:>9} {:>9.0f} {:>10} {:>8.2f}%\n", setting.method, setting.processes,
               format_size(setting.buffer_bytes), setting.pause_ms, setting.log ? "yes" : "no", seen.rate, seen.lost,
               100 * seen.share);
    std::fflush(stdout);
  }
  for (const auto& [method, rate] : best) fmt::print("highest rate without loss, {}: {:.0f} faults/s\n", method, rate);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool smoke = false;
  int processes = 0;
  int milliseconds = 1500;
  std::string to;
  const auto add = [&](Arguments arguments) {
    arguments.option("--work", processes, "be the traced program, with this many processes").hidden();
    arguments.option("--to", to, "file for the count of that program").hidden();
    arguments.option("--ms", milliseconds, "duration of the program's faults").with_default().in_range(10, 60'000);
    arguments.flag("--smoke", smoke, "only check that the benchmark runs, with a few brief settings");
  };
  const auto start = [&] {
    if (processes > 0) return work(processes, milliseconds, to);
    catch_interrupts();
    return run(argv[0], smoke, smoke ? 50 : milliseconds);
  };
  return standalone_main("benchmark-fault-tracer-rate",
                         "measure how many faults per second zerotax cow follows without loss", argc, argv, add, start);
}
