// Measures the cost of recording an event, compared with LTTng-UST and with a bare clock read and store. Also measures
// the cost of recording a function call, compared with uftrace. Checks that 10 million records per second are complete
// for 10 s, in memory and on a disk. Compares this rate with write(2) of as many bytes. An event should take at most
// 12/8.5 of the bare time and a fifth of LTTng-UST's time. A function call should take at most half of uftrace's time.
// No record may be lost, unless write(2) alone falls behind by half of the buffers.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/statistics.h"
#include "cli/arguments.h"
#include "lttng_session.h"
#include "os/elf_file.h"
#include "run/interrupt.h"
#include "trace/ctf_trace.h"

namespace {

using namespace zerotax;
using zerotax::trace::CtfEvent;
using zerotax::trace::CtfTrace;
namespace fs = std::filesystem;
using Environment = std::vector<std::pair<std::string, std::string>>;

constexpr double kOverBare = 12 / 8.5;
constexpr std::uint64_t kRateBuffers = 64;  // MiB, for all threads together
constexpr double kRecordBytes = 24;         // 16 bytes of the event's fields, and 8 bytes of its number and time
constexpr double kMiB = 1 << 20;
constexpr double kPeerRatio = 5;
constexpr double kCallPeerRatio = 2;

struct Place {
  std::string bin;     ///< folder of benchmark-recorder
  std::string folder;  ///< folder for traces; emptied between measurements
  [[nodiscard]] std::string program(const std::string& name) const { return bin + "/../benchmarks/recorder/" + name; }
  [[nodiscard]] std::string library(const std::string& name) const { return bin + "/../lib/" + name; }
};

/// Returns the numbers that a program prints; empty if it failed or is missing.
std::vector<double> numbers_of(const std::string& program, const std::vector<std::string>& words,
                               const Environment& env) {
  ChildCommand command;
  command.program = program;
  command.arguments = words;
  command.environment = env;
  command.capture = true;
  command.timeout = std::chrono::minutes(5);
  const ChildResult result = run_child(command, stop_requested);
  if (result.end != ChildResult::End::kExited || result.code != 0) return {};
  std::istringstream text(result.output);
  std::vector<double> values;
  for (double value = 0; text >> value;) values.push_back(value);
  return values;
}

/// Measures several kinds of recording alternately for some rounds, and takes the medians. A kind that fails once is
/// n/a.
class Rounds {
 public:
  using Run = std::function<std::vector<double>()>;
  void add(const std::string& name, Run run) { kinds_.push_back({name, std::move(run), "", {}}); }
  void add_missing(const std::string& name, const std::string& why) { kinds_.push_back({name, {}, why, {}}); }

  void measure(int rounds) {
    for (int round = 0; round < rounds && interrupted() == 0; ++round) {
      for (Kind& kind : kinds_) {
        if (!kind.why.empty()) continue;
        const auto values = kind.run();
        if (values.empty()) kind.why = "the run failed: try it by hand";
        if (!values.empty()) kind.ns.push_back(values.front());
      }
    }
  }

  [[nodiscard]] double median_of(const std::string& name) const {
    for (const Kind& kind : kinds_) {
      if (kind.name == name && kind.why.empty() && !kind.ns.empty()) return median(kind.ns);
    }
    return 0;
  }

  void print(const char* heading) const {
    fmt::print("{:<44} {:>8} {:>8} {:>8}\n", heading, "median", "least", "most");
    for (const Kind& kind : kinds_) {
      if (!kind.why.empty() || kind.ns.empty()) {
        fmt::print("{:<44}      n/a  {}\n", kind.name, kind.why);
        continue;
      }
      fmt::print("{:<44} {:>8.2f} {:>8.2f} {:>8.2f}\n", kind.name, median(kind.ns),
                 *std::min_element(kind.ns.begin(), kind.ns.end()), *std::max_element(kind.ns.begin(), kind.ns.end()));
    }
  }

 private:
  struct Kind {
    std::string name;
    Run run;
    std::string why;
    std::vector<double> ns;
  };
  std::vector<Kind> kinds_;
};

/// Prints whether a ratio is as expected. If not, increments `off`.
void expect(const char* what, double ratio, double limit, bool at_most, int& off) {
  const bool good = at_most ? ratio <= limit : ratio >= limit;
  if (!good) ++off;
  fmt::print("{}: {:.2f} (expected: {} {:.2f}){}\n", what, ratio, at_most ? "at most" : "at least", limit,
             good ? "" : "  off");
}

Environment trace_to(const std::string& folder) {
  fs::remove_all(folder);
  return {{"ZEROTAX_TRACE_DIR", folder}};
}

void measure_records(const Place& place, bool smoke, int rounds, int& off) {
  const std::string count = smoke ? "100000" : "1000000";
  const LttngSession session(place.folder + "/lttng");
  Rounds kinds;
  kinds.add("bare: clock read, 16 bytes stored", [&] {
    return numbers_of(place.program("records"), {"bare", count}, {});
  });
  kinds.add("zerotax", [&] {
    // Records at full speed, ten times the rate of the test of completeness. As in LTTng, these buffers are so large
    // that the drain keeps up.
    Environment env = trace_to(place.folder + "/ours");
    env.emplace_back("ZEROTAX_TRACE_BUFFER", "16MiB");
    return numbers_of(place.program("records"), {"ours", count}, env);
  });
  kinds.add("zerotax, not recording", [&] { return numbers_of(place.program("records"), {"ours", count}, {}); });
  if (!fs::exists(place.program("records_lttng"))) {
    kinds.add_missing("LTTng-UST", "its headers were missing when this was built: install liblttng-ust-dev");
  } else if (!session.why_not().empty()) {
    kinds.add_missing("LTTng-UST", session.why_not());
  } else {
    kinds.add("LTTng-UST", [&] {
      auto found = numbers_of(place.program("records_lttng"), {count}, session.environment());
      // A disabled tracepoint cannot be compared.
      if (found.size() == 2 && found[1] != 1) found.clear();
      return found;
    });
  }
  kinds.measure(rounds);
  kinds.print("ns per record of 16 bytes");
  const double ours = kinds.median_of("zerotax");
  expect("  zerotax / bare", ours / kinds.median_of("bare: clock read, 16 bytes stored"), kOverBare, true, off);
  if (const double peer = kinds.median_of("LTTng-UST"); peer > 0)
    expect("  LTTng-UST / zerotax", peer / ours, kPeerRatio, false, off);
  fs::remove_all(place.folder + "/ours");
}

void measure_calls(const Place& place, bool smoke, int rounds, int& off) {
  const std::string count = smoke ? "100000" : "1000000";
  const std::string instrumented = place.program("calls_instrumented");
  Rounds kinds;
  kinds.add("bare", [&] { return numbers_of(place.program("calls"), {count}, {}); });
  kinds.add("zerotax", [&] {
    Environment env = trace_to(place.folder + "/calls");
    env.emplace_back("ZEROTAX_TRACE_BUFFER", "16MiB");
    env.emplace_back("LD_PRELOAD", fs::canonical(place.library("libzerotax-functions.so")));
    return numbers_of(instrumented, {count}, env);
  });
  if (const std::string uftrace = find_program("uftrace"); uftrace.empty()) {
    kinds.add_missing("uftrace", "it is missing: install uftrace");
  } else {
    kinds.add("uftrace", [&, uftrace] {
      return numbers_of(
          uftrace, {"record", "--no-pager", "--no-libcall", "-d", place.folder + "/uftrace", instrumented, count}, {});
    });
  }
  kinds.measure(rounds);
  kinds.print("\nns per call of an instrumented function");
  // Each time includes the bare call.
  const double bare = kinds.median_of("bare");
  if (const double peer = kinds.median_of("uftrace"); peer > 0) {
    expect("  uftrace / zerotax", (peer - bare) / (kinds.median_of("zerotax") - bare), kCallPeerRatio, false, off);
  }
  fs::remove_all(place.folder + "/calls");
  fs::remove_all(place.folder + "/uftrace");
}

/// Returns whether each thread's numbers are complete, in order and unique.
bool all_there(const std::string& folder, std::uint64_t threads, std::uint64_t each) {
  CtfTrace trace(folder);
  std::map<std::uint64_t, std::uint64_t> next;
  bool in_order = true;
  trace.for_each([&](const CtfEvent& event) {
    std::uint64_t fields[2];
    std::memcpy(fields, event.bytes, sizeof fields);
    in_order = in_order && next[fields[0]]++ == fields[1];
  });
  for (const auto& [who, count] : next) in_order = in_order && count == each;
  return in_order && next.size() == threads && trace.problems().empty();
}

/// Prints one row of the table: THREADS threads record into buffers in `folder`. With `bound`, a lost record increments
/// `off`.
void measure_rate(const Place& place, const std::string& folder, std::uint64_t threads, bool smoke, double seconds,
                  bool bound, int& off) {
  // The buffers hold the records of a quarter of a second, in case the disk delays the drain.
  Environment env = trace_to(folder);
  env.emplace_back("ZEROTAX_TRACE_BUFFER", fmt::format("{}MiB", kRateBuffers / threads));
  const auto found =
      numbers_of(place.program("rate"), {std::to_string(threads), smoke ? "1e6" : "1e7", std::to_string(seconds)}, env);
  if (found.size() != 3) {
    fmt::print("{} threads: n/a, the run failed: is there room in {}?\n", threads, folder);
    ++off;
    return;
  }
  const auto each = static_cast<std::uint64_t>(found[0]) / threads;
  const bool good = found[1] == 0 && all_there(folder, threads, each);
  if (!good && bound) ++off;
  fmt::print("{:<52} {:>12.0f} {:>8.0f} {:>8.2f}  {}\n", fmt::format("{} threads", threads), found[0], found[1],
             found[2], good ? "all there, in order" : "not all there");
  std::fflush(stdout);
  fs::remove_all(folder);
}

void measure_loss(const Place& place, const std::string& name, const std::string& folder, bool smoke, double seconds,
                  int& off) {
  const std::string title = fmt::format("10 million a second, {} MiB of buffers, {}", kRateBuffers, name);
  const double bytes_per_second = (smoke ? 1e6 : 1e7) * kRecordBytes;
  const double needed = bytes_per_second * seconds + 2 * kRateBuffers * kMiB;
  if (!fs::exists(folder) || static_cast<double>(fs::space(folder).available) < needed) {
    fmt::print("\n{}\n  n/a, {} has no room for {:.1f} GB\n", title, folder, needed / 1e9);
    return;
  }
  fmt::print("\n{:<52} {:>12} {:>8} {:>8}  numbers\n", title, "recorded", "lost", "seconds");
  const std::string own = folder + fmt::format("/zerotax-rate-{}", ::getpid());
  double behind = 0;
  for (const std::uint64_t threads : {1, 2, 8}) {
    if (interrupted() != 0) return;
    for (const double bytes : numbers_of(place.program("write_alone"),
                                         {own, fmt::format("{:.0f}", bytes_per_second), std::to_string(seconds)}, {}))
      behind = std::max(behind, bytes);
    fs::remove(own);
    // If write(2) alone, with a CPU to itself, falls behind by half of the buffers, no recorder can promise
    // completeness.
    measure_rate(place, own, threads, smoke, seconds, behind < kRateBuffers * kMiB / 2, off);
  }
  fmt::print("  write(2) of as many bytes, alone: {:.1f} MiB behind at most\n", behind / kMiB);
}

}  // namespace

int main(int argc, char** argv) {
  bool smoke = false;
  int rounds = 11;
  double seconds = 10;
  std::string folder = (fs::temp_directory_path() / fmt::format("zerotax-benchmark-{}", ::getpid())).string();
  const auto add = [&](Arguments arguments) {
    arguments.flag("--smoke", smoke, "only check that the benchmark runs, with one round and little work");
    arguments.option("--rounds", rounds, "number of runs of each kind, in turn").with_default().in_range(1, 1000);
    arguments.option("--seconds", seconds, "duration of recording at a steady rate").with_default().in_range(0.01, 600);
    arguments.option("--folder", folder, "folder for the traces: 3 GB at 10 s; removed afterwards").with_default();
  };
  const auto start = [&] {
    catch_interrupts();
    int off = 0;
    if (smoke) rounds = 1;
    if (smoke) seconds = 0.1;
    const Place place{fs::read_symlink("/proc/self/exe").parent_path(), folder};
    fs::create_directories(folder);
    measure_records(place, smoke, rounds, off);
    measure_calls(place, smoke, rounds, off);
    measure_loss(place, "in memory", "/dev/shm", smoke, seconds, off);
    measure_loss(place, "on a disk", folder, smoke, seconds, off);
    fs::remove_all(folder);
    fmt::print("{} figures are off\n", off);
    if (interrupted() != 0) return 128 + interrupted();
    // Times never fail a test. The smoke run only checks that the benchmark works.
    return !smoke && off > 0 ? 1 : 0;
  };
  return standalone_main("benchmark-recorder",
                         "measure the cost of recording an event and a function call, beside LTTng-UST and "
                         "uftrace",
                         argc, argv, add, start);
}
