// Measures the time that a tracer adds to a page fault. A program times its own zero-fills, copies and reuses. The
// program alternates between five modes: untraced, under zerotax cow with either of two methods, under perf trace -F
// all, and under perf record -e page-faults.

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/statistics.h"
#include "cli/arguments.h"
#include "cow/run.h"
#include "os/clock.h"
#include "os/elf_file.h"
#include "os/page.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace {

using namespace zerotax;
using zerotax::cow::cow_command;
using zerotax::cow::CowRun;

constexpr std::array kClasses{"zero-fill", "copy", "reuse"};
using Times = std::array<double, kClasses.size()>;  ///< nanoseconds per fault

double timed_writes(char* memory, std::size_t pages) {
  const std::int64_t start = monotonic_ns();
  for (std::size_t i = 0; i < pages; ++i) *static_cast<volatile char*>(memory + i * page_bytes()) = 1;
  return static_cast<double>(monotonic_ns() - start) / static_cast<double>(pages);
}

/// The traced program. The program stays on one CPU, because the kernel may copy, instead of reuse, a page that another
/// CPU wrote to last.
int work(std::size_t pages, const std::string& file) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &cpus);
  ::sched_setaffinity(0, sizeof cpus, &cpus);
  const std::size_t bytes = pages * page_bytes();
  // Populates and frees twice the needed memory first, because the first write to a virtual machine's memory is slow.
  void* warm = ::mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::madvise(warm, 2 * bytes, MADV_POPULATE_WRITE);
  ::munmap(warm, 2 * bytes);
  auto* memory = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  int hold[2];
  if (memory == MAP_FAILED || ::madvise(memory, bytes, MADV_NOHUGEPAGE) != 0 || ::pipe(hold) != 0) return 3;
  Times times{};
  times[0] = timed_writes(memory, pages);
  char word = 0;
  const pid_t sharer = ::fork();
  if (sharer == 0) {
    ::close(hold[1]);
    ::_exit(::read(hold[0], &word, 1) == 0 ? 0 : 1);
  }
  times[1] = timed_writes(memory, pages);
  ::close(hold[1]);
  ::waitpid(sharer, nullptr, 0);
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  times[2] = timed_writes(memory, pages);
  std::ofstream(file) << times[0] << ' ' << times[1] << ' ' << times[2];
  return 0;
}

struct Tracer {
  std::string name;
  std::string missing;  ///< why the tracer is unavailable; empty if it is available
  std::function<void(const std::vector<std::string>& program)> run;
  std::vector<Times> times{};
};

void run_with(std::vector<std::string> words, const std::vector<std::string>& program) {
  words.insert(words.end(), program.begin(), program.end());
  const ForegroundResult result = run_foreground({find_program(words.front()), words, {}, restore_interrupts});
  if (result.exit_status != 0) throw MachineError(words.front() + " failed", "run it by hand");
}

Tracer perf(const std::string& name, const std::vector<std::string>& words) {
  return {name, find_program("perf").empty() ? "perf is missing: install linux-perf" : "",
          [words](const auto& program) { run_with(words, program); }};
}

Tracer cow(const std::string& name, const char* method, const std::string& faults_file) {
  const bool as_root = std::string(method) != "tracepoints" || ::geteuid() == 0;
  return {name, as_root ? "" : "tracepoints are root's", [method, faults_file](const auto& program) {
            ::setenv("ZEROTAX_FAULTS", method, 1);
            FaultTracerOptions options;
            options.faults_file = faults_file;
            const CowRun run = cow_command(program, options);
            if (run.exit_status != 0) throw MachineError("the program failed", "run it by hand");
            if (run.data.lost > 0) fmt::print("! {} events were lost\n", run.data.lost);
          }};
}

Times measured(const Tracer& tracer, const std::vector<std::string>& program, const std::string& file) {
  tracer.run(program);
  Times times{};
  std::ifstream in(file);
  for (double& time : times) in >> time;
  if (!in) throw MachineError(tracer.name + " left no times", "run it by hand");
  ::unlink(file.c_str());
  return times;
}

double median_of(const Tracer& tracer, std::size_t which, const Tracer* base) {
  std::vector<double> values;
  for (std::size_t i = 0; i < tracer.times.size(); ++i) {
    values.push_back(tracer.times[i][which] / (base != nullptr ? base->times[i][which] : 1));
  }
  return quantile(values, 0.5);
}

void print(const std::vector<Tracer>& tracers, std::size_t pages, int rounds) {
  fmt::print("ns a fault (median of {} rounds of {} faults of each class), and the ratio to the same round untraced\n",
             rounds, pages);
  fmt::print("{:<32}", "");
  for (const char* name : kClasses) fmt::print(" {:>8} {:>7} {:>6}", name, "added", "ratio");
  fmt::print("\n");
  for (const Tracer& tracer : tracers) {
    fmt::print("{:<32}", tracer.name);
    for (std::size_t i = 0; i < kClasses.size() && tracer.missing.empty(); ++i) {
      const double ns = median_of(tracer, i, nullptr);
      fmt::print(" {:>8.0f} {:>7.0f} {:>6.2f}", ns, ns - median_of(tracers.front(), i, nullptr),
                 median_of(tracer, i, &tracers.front()));
    }
    fmt::print("{}\n", tracer.missing.empty() ? "" : " n/a: " + tracer.missing);
  }
}

int run(const std::string& self, std::size_t pages, int rounds) {
  const std::string file = fmt::format("/tmp/zerotax-fault-tracer-{}", ::getpid());
  const std::string log = file + ".log";
  const std::vector<std::string> program{self, "--work", std::to_string(pages), "--to", file};
  std::vector<Tracer> tracers{
      {"untraced", "", [](const auto& words) { run_with({}, words); }},
      cow("zerotax cow, as root", "tracepoints", ""),
      cow("zerotax cow --faults, as root", "tracepoints", log),
      cow("zerotax cow, ordinary user", "software", ""),
      perf("perf trace -F all", {"perf", "trace", "-F", "all", "--no-syscalls", "-o", "/dev/null", "--"}),
      perf("perf record -e page-faults -c 1",
           {"perf", "record", "-q", "-e", "page-faults", "-c", "1", "-o", log, "--"}),
  };
  for (int round = 0; round < rounds && interrupted() == 0; ++round) {
    for (std::size_t i = 0; i < tracers.size(); ++i) {
      // Each round starts with the next tracer.
      Tracer& tracer = tracers[(i + static_cast<std::size_t>(round)) % tracers.size()];
      if (!tracer.missing.empty()) continue;
      try {
        tracer.times.push_back(measured(tracer, program, file));
      } catch (const MachineError& failure) {
        if (&tracer == &tracers.front()) throw;
        tracer.missing = failure.what();
      }
    }
  }
  ::unlink(log.c_str());
  if (interrupted() != 0) return 128 + interrupted();
  print(tracers, pages, rounds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool smoke = false;
  std::size_t pages = 20'000;
  std::size_t work_pages = 0;
  int rounds = 15;
  std::string to;
  const auto add = [&](Arguments arguments) {
    arguments.option("--work", work_pages, "be the traced program, with this many pages").hidden();
    arguments.option("--to", to, "file for the times of that program").hidden();
    arguments.flag("--smoke", smoke, "only check that the benchmark runs, with one round of few faults");
    arguments.option("--pages", pages, "number of faults of each class").with_default().in_range(100, 1'000'000);
    arguments.option("--rounds", rounds, "runs of each").with_default().in_range(1, 1000);
  };
  const auto start = [&] {
    if (work_pages > 0) return work(work_pages, to);
    catch_interrupts();
    return run(argv[0], smoke ? 500 : pages, smoke ? 1 : rounds);
  };
  return standalone_main("benchmark-fault-tracer-cost",
                         "measure the time that zerotax cow adds to a page fault, beside perf", argc, argv, add, start);
}
