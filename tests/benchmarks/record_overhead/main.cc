// Measures how much zerotax record adds to the wall time of programs. Recorded and unrecorded runs of each program
// alternate, and each pair gives a ratio. The expected limit is 3 %, and 5 % for 1,000 forks. Refilling 1 MiB has no
// limit, because the recorder examines each mapped block. Starting /bin/true has no limit, because each start loads the
// recorder.

#include <fmt/format.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/statistics.h"
#include "cli/arguments.h"
#include "os/elf_file.h"
#include "record/launch.h"
#include "run/interrupt.h"

namespace {

using namespace zerotax;
using zerotax::record::RecordArena;
using zerotax::record::RecordTarget;
using zerotax::record::resolve_record_target;
using zerotax::record::run_recorded;

constexpr double kExpected = 1.03;
constexpr double kExpectedOfForks = 1.05;
constexpr std::size_t kMostTimes = 8;  ///< while the interval contains the limit, more pairs are run, up to this
                                       ///< multiple of the planned number

/// Does typical work of many programs: adds words to a map and a vector, with strings of many sizes, and removes them.
int do_work(int rounds) {
  std::size_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    std::map<std::string, std::vector<std::string>> index;
    for (int i = 0; i < 20'000; ++i) {
      index[fmt::format("the word that is number {} of them", i % 4'000)].push_back(
          std::string(static_cast<std::size_t>(16 + i % 300), static_cast<char>('a' + i % 26)));
    }
    for (const auto& [key, values] : index) sum += key.size() + values.size();
  }
  return sum == 0 ? 1 : 0;
}

/// Does work that takes place mostly in the kernel: maps, fills and unmaps a block of 1 MiB. The recorder examines each
/// block three times.
int do_refill(int rounds) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
  for (int round = 0; round < rounds; ++round) {
    void* block = std::malloc(kBytes);
    std::memset(block, 7, kBytes);
    asm volatile("" : : "r"(block) : "memory");
    std::free(block);
  }
  return 0;
}

/// Holds 32 MiB, and starts processes one at a time, by fork or by posix_spawn of /bin/true.
int do_forks(int count, bool spawn) {
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  const std::vector<char> held(kBytes, 7);
  asm volatile("" : : "r"(held.data()) : "memory");
  char name[] = "true";
  char* words[] = {name, nullptr};
  for (int i = 0; i < count; ++i) {
    pid_t child = -1;
    if (spawn) {
      if (::posix_spawn(&child, "/bin/true", nullptr, nullptr, words, environ) != 0) return 1;
    } else {
      child = ::fork();
      if (child == 0) ::_exit(0);
    }
    if (child < 0 || ::waitpid(child, nullptr, 0) != child) return 1;
  }
  return 0;
}

struct Program {
  std::string name;
  std::vector<std::string> words;
  double expected = kExpected;  ///< the limit of the ratio; 0: no limit
};

std::vector<Program> programs(const std::string& self, const std::string& source, int rounds) {
  std::vector<Program> all{{"maps and strings (C++)", {self, "--work", std::to_string(rounds)}}};
  if (!find_program("/usr/bin/python3").empty()) {
    const auto code = fmt::format(
        "import json\nfor i in range({}):\n d={{str(k): [k, str(k), {{'x': k}}] for k in range(600)}}\n "
        "json.loads(json.dumps(d))",
        5 * rounds);
    // Makes the program so small that its dictionaries and strings stay under 64 KiB.
    all.push_back({"json (python3)", {"/usr/bin/python3", "-c", code}});
  }
  if (!find_program("g++").empty()) {
    all.push_back({"g++ -O1 of one file", {"g++", "-O1", "-std=c++17", "-x", "c++", "-c", source, "-o", "/dev/null"}});
  }
  all.push_back({"1,000 forks", {self, "--forks", std::to_string(25 * rounds)}, kExpectedOfForks});
  all.push_back({"/bin/true, 1,000 times", {self, "--spawns", std::to_string(25 * rounds)}, 0});
  all.push_back({"1 MiB refilled (no bound)", {self, "--refill", std::to_string(25 * rounds)}, 0});
  return all;
}

double seconds(const Program& program, bool recorded) {
  RecordTarget target{program.words, find_program(program.words.front()), "", {}, ""};
  if (!recorded) {
    const ForegroundResult result = run_foreground({target.program, target.words, {}, restore_interrupts});
    if (result.exit_status != 0) throw MachineError(program.name + " failed", "run it by hand");
    return static_cast<double>(result.wall_ns) * 1e-9;
  }
  target = resolve_record_target(program.words, "", {});
  RecordArena arena;
  const ForegroundResult result = run_recorded(target, arena);
  if (result.exit_status != 0 || arena.processes().empty()) {
    throw MachineError(program.name + " failed when it was recorded", "run it by hand: zerotax record -- COMMAND");
  }
  return static_cast<double>(result.wall_ns) * 1e-9;
}

/// For each pair: the ratio of the wall times with and without recording, and the wall time without it in seconds.
struct Pairs {
  std::vector<double> ratios;
  std::vector<double> plain;

  void measure(const Program& program, std::size_t count) {
    while (ratios.size() < count && interrupted() == 0) {
      // The second run of a pair finds warmer caches, so recorded and unrecorded runs alternate in going first.
      const bool recorded_first = ratios.size() % 2 == 1;
      const double first = seconds(program, recorded_first);
      const double second = seconds(program, !recorded_first);
      plain.push_back(recorded_first ? second : first);
      ratios.push_back(recorded_first ? first / second : second / first);
    }
  }

  [[nodiscard]] Interval interval() const {
    std::vector<double> estimates;
    for (const auto& medians : resampled_medians({ratios}, 2000, 1)) estimates.push_back(medians.front());
    return percentile_interval(estimates, 0.95);
  }
};

/// Returns a note if the interval is above the expected limit, or contains it.
const char* verdict(const Interval& interval, double expected) {
  if (expected == 0) return "";
  return interval.low > expected ? "  over" : interval.high > expected ? "  undecided" : "";
}

int run(const std::string& self, bool smoke, std::size_t pairs) {
  const std::string source = fmt::format("/tmp/zerotax-record-overhead-{}.cc", ::getpid());
  std::ofstream(source) << "#include <map>\n#include <string>\n#include <vector>\n"
                           "std::map<std::string, std::vector<int>> m;\nvoid f() { m[\"a\"].push_back(1); }\n";
  fmt::print("{:<25} {:>6} {:>11} {:>7} {:>16}\n", "program", "pairs", "as it is", "ratio", "95 % interval");
  int over = 0;
  for (const Program& program : programs(self, source, smoke ? 2 : 40)) {
    Pairs measured;
    measured.measure(program, pairs);
    const auto decided = [&] { return smoke || *verdict(measured.interval(), program.expected) == '\0'; };
    for (std::size_t i = 2; i <= kMostTimes && interrupted() == 0 && !decided(); ++i)
      measured.measure(program, i * pairs);
    if (interrupted() != 0) break;
    const Interval interval = measured.interval();
    const std::string judged = verdict(interval, program.expected);
    if (!judged.empty()) ++over;
    fmt::print("{:<25} {:>6} {:>9.1f} ms {:>7.3f}   {:.3f} to {:.3f}{}\n", program.name, measured.ratios.size(),
               median(measured.plain) * 1e3, median(measured.ratios), interval.low, interval.high, judged);
    std::fflush(stdout);
  }
  ::unlink(source.c_str());
  fmt::print("{} rows over their limit ({:.2f}; forks {:.2f}) or undecided\n", over, kExpected, kExpectedOfForks);
  if (interrupted() != 0) return 128 + interrupted();
  // Times never fail a test. The smoke run only checks that the benchmark works.
  return !smoke && over > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool smoke = false;
  int work = 0;
  int refill = 0;
  int forks = 0;
  int spawns = 0;
  int pairs = 21;
  const auto add = [&](Arguments arguments) {
    arguments.flag("--smoke", smoke, "only check that the benchmark runs, with one pair and little work");
    arguments.option("--work", work, "do this many rounds of the measured work").hidden();
    arguments.option("--refill", refill, "refill a block this many times").hidden();
    arguments.option("--forks", forks, "fork this many times").hidden();
    arguments.option("--spawns", spawns, "start /bin/true this many times").hidden();
    arguments.option("--pairs", pairs, "number of runs of each kind; up to 8 times as many until the result is decided")
        .with_default()
        .in_range(1, 1000);
  };
  const auto start = [&] {
    if (work > 0) return do_work(work);
    if (refill > 0) return do_refill(refill);
    if (forks + spawns > 0) return do_forks(forks + spawns, spawns > 0);
    catch_interrupts();
    return run(argv[0], smoke, static_cast<std::size_t>(smoke ? 1 : pairs));
  };
  return standalone_main("benchmark-record-overhead",
                         "measure the wall time that zerotax record adds to programs, with small blocks and with forks",
                         argc, argv, add, start);
}
