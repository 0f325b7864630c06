#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "base/shell.h"
#include "base/statistics.h"
#include "baseline/result.h"
#include "bench/result.h"
#include "bench/suite.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/print.h"
#include "record/remedies.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::bench {
namespace {

constexpr std::uint64_t kSeed = 20'161'212;
/// Maximum number of earlier benchmarks that are tested one by one as the cause of a dependence.
constexpr std::size_t kMostSuspects = 12;

/// Returns the number of rounds needed to prove that one of `benchmarks` benchmarks depends on the order.
std::size_t fewest_rounds(std::size_t benchmarks) { return fewest_pairs(benchmarks, CompareMethod{}.alpha); }

Measured<Counts> counts_in(const CountedRun& run, const std::string& name) {
  const auto found = run.counts.find(name);
  return found == run.counts.end() ? Measured<Counts>(NotAvailable{"the program did not report it"}) : found->second;
}

/// Returns the call site that returns the most memory to the kernel; empty if it returns little.
std::string place_of_returns(const record::runs::CommandRun& run) {
  const std::pair<const record::runs::SiteKey, record::runs::Site>* most = nullptr;
  const auto returned = [](const auto& site) { return site.second.numbers[record::runs::SiteNumber::kReturned]; };
  for (const auto& site : run.sites) {
    if (returned(site) != 0 && (most == nullptr || returned(site) > returned(*most))) most = &site;
  }
  if (most == nullptr) return "";
  baseline::SiteChange change;
  change.kind = most->first.kind;
  change.place = most->second.place;
  return baseline::place_words(change);
}

std::vector<std::string> names_of(const std::vector<Benchmark>& benchmarks) {
  std::vector<std::string> names;
  names.reserve(benchmarks.size());
  for (const Benchmark& each : benchmarks) names.push_back(each.name);
  return names;
}

class Running {
 public:
  Running(const Suite& suite, Report& report) : suite_(suite), report_(report), random_(kSeed) {}

  /// Makes the report. Throws Stop.
  void run() {
    for (const std::string& name : suite_.list()) report_.benchmarks.emplace_back().name = name;
    report_.rounds = std::max(report_.rounds, fewest_rounds(report_.benchmarks.size()));
    count();
    time(report_.benchmarks, {}, "timing");
    judge(report_);
    const std::vector<std::size_t> differing = differing_ones();
    if (differing.empty()) return;
    explain(differing);
    judge(report_);
    pin();
    judge(report_);
  }

 private:
  [[nodiscard]] std::vector<std::string> names() const { return names_of(report_.benchmarks); }

  /// Runs the items. Throws Stop if a signal arrived.
  static void finish(Experiment& experiment, const std::vector<Item>& items) {
    if (!experiment.run(items)) throw Stop{};
  }
  static Item item(const std::string& label, double weight, const std::function<void()>& work) {
    Item made;
    made.label = label;
    made.seconds = weight;
    made.measure = [work](const Say&) { work(); };
    return made;
  }

  void count() {
    const auto all = static_cast<double>(report_.benchmarks.size());
    alone_.resize(report_.benchmarks.size());
    std::vector<Item> items;
    items.push_back(item("all, in order", all, [this] { in_order_ = suite_.counted(names(), {}); }));
    if (suite_.not_shuffled().empty()) {
      items.push_back(item("all, shuffled", 3 * all, [this] { shuffled_ = suite_.counted(names(), {}, true); }));
    }
    for (std::size_t i = 0; i < report_.benchmarks.size(); ++i) {
      const std::string& name = report_.benchmarks[i].name;
      items.push_back(item(name, 1, [this, i, &name] { alone_[i] = suite_.counted({name}, {}); }));
    }
    Experiment experiment("counting");
    finish(experiment, items);
    for (std::size_t i = 0; i < report_.benchmarks.size(); ++i) {
      Benchmark& each = report_.benchmarks[i];
      each.alone.counts = counts_in(alone_[i], each.name);
      each.in_order.counts = counts_in(in_order_, each.name);
      if (suite_.not_shuffled().empty()) {
        each.shuffled.counts = counts_in(shuffled_, each.name);
      } else {
        each.shuffled.counts = NotAvailable{suite_.not_shuffled()};
      }
    }
    confirm();
  }

  /// Returns the counts of some benchmarks under these variables, by name: when all benchmarks of `list` run in order,
  /// and when each runs alone.
  std::map<std::string, std::pair<Measured<Counts>, Measured<Counts>>> counted_both_ways(
      const std::vector<std::string>& list, const std::vector<std::size_t>& of, const Variables& env,
      Experiment& experiment) {
    std::map<std::string, std::pair<Measured<Counts>, Measured<Counts>>> found;
    CountedRun together;
    std::vector<Item> items{
        item("all, in order", static_cast<double>(list.size()), [&] { together = suite_.counted(list, env); })};
    for (const std::size_t i : of) {
      items.push_back(item(report_.benchmarks[i].name, 1, [&, name = report_.benchmarks[i].name] {
        found[name] = {counts_in(suite_.counted({name}, env), name), counts_in(together, name)};
      }));
    }
    finish(experiment, items);
    return found;
  }

  /// Repeats the counting of each benchmark whose counts differed. If the difference does not recur, keeps the later
  /// counts.
  void confirm() {
    const std::vector<std::size_t> differing = differing_ones();
    if (differing.empty()) return;
    Experiment experiment("counting again");
    const auto again = counted_both_ways(names(), differing, {}, experiment);
    for (const std::size_t i : differing) {
      Benchmark& each = report_.benchmarks[i];
      const auto& [alone, in_order] = again.at(each.name);
      if (!differ(alone, in_order)) std::tie(each.alone.counts, each.in_order.counts) = std::tie(alone, in_order);
    }
  }

  [[nodiscard]] std::vector<std::size_t> differing_ones() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < report_.benchmarks.size(); ++i) {
      const Benchmark& each = report_.benchmarks[i];
      if (depends_on_order(each)) found.push_back(i);
    }
    return found;
  }

  /// Measures the time of all benchmarks in order, and of each benchmark alone, in rounds of random order.
  void time(std::vector<Benchmark>& benchmarks, const Variables& variables, const char* what) {
    std::vector<Item> items;
    // Element i measures the time of benchmark i alone. The last element measures the time of all benchmarks in order.
    std::vector<std::size_t> places(benchmarks.size() + 1);
    std::iota(places.begin(), places.end(), std::size_t{0});
    const std::vector<std::string> all = names_of(benchmarks);
    for (std::size_t round = 0; round < report_.rounds; ++round) {
      for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random_.below(i)]);
      for (const std::size_t place : places) {
        if (place == benchmarks.size()) {
          items.push_back(
              item("all, in order", static_cast<double>(benchmarks.size()), [this, &benchmarks, &variables, all] {
                for (const Reported& each : suite_.timed(all, variables)) note(benchmarks, each, &Benchmark::in_order);
              }));
        } else {
          items.push_back(item(benchmarks[place].name, 1, [this, &benchmarks, &variables, place] {
            for (const Reported& each : suite_.timed({benchmarks[place].name}, variables)) {
              note(benchmarks, each, &Benchmark::alone);
            }
          }));
        }
      }
    }
    Experiment experiment(what);
    finish(experiment, items);
  }

  static void note(std::vector<Benchmark>& benchmarks, const Reported& reported, Observed Benchmark::*order) {
    for (Benchmark& each : benchmarks) {
      if (each.name == reported.name) (each.*order).times_ns.push_back(reported.real_ns);
    }
  }

  void explain(const std::vector<std::size_t>& differing) {
    Experiment experiment("looking for the cause");
    for (const std::size_t at : differing) {
      Benchmark& each = report_.benchmarks[at];
      CountedRun both = in_order_;
      for (std::size_t back = 1; back <= std::min(at, kMostSuspects); ++back) {
        const std::string& before = report_.benchmarks[at - back].name;
        CountedRun pair;
        finish(experiment, {item(before + " and " + each.name, 2, [&] {
                 pair = suite_.counted({before, each.name}, {});
               })});
        if (!differ(each.alone.counts, counts_in(pair, each.name))) continue;
        each.cause.before = before;
        both = std::move(pair);
        break;
      }
      const bool refills_alone = each.alone.counts->refilled_bytes > each.in_order.counts->refilled_bytes;
      each.cause.place = place_of_returns(refills_alone ? alone_[at].recorded : both.recorded);
    }
  }

  /// Returns the benchmarks that depend on the order, and the benchmarks on which they depend, each once.
  [[nodiscard]] std::vector<std::string> involved() const {
    std::vector<std::string> found;
    for (const Benchmark& each : report_.benchmarks) {
      if (!depends_on_order(each)) continue;
      if (each.cause.before.empty()) return names();
      for (const std::string& name : {each.cause.before, each.name}) {
        if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
      }
    }
    return found;
  }

  /// Returns whether the setting ends the order dependence of every benchmark that had one.
  bool is_pinned_by(const Variables& env, const std::vector<std::string>& all, Experiment& experiment) {
    const auto found = counted_both_ways(all, differing_ones(), env, experiment);
    return std::all_of(found.begin(), found.end(), [](const auto& each) {
      const auto& [alone, in_order] = each.second;
      return alone && in_order && !differ(alone, in_order);
    });
  }

  void pin() {
    std::string allocator = record::allocator_name(in_order_.recorded.allocator);
    if (allocator.empty()) allocator = "glibc";
    const std::vector<std::string> all = involved();
    const std::string& library = in_order_.recorded.allocator;
    const record::PresentAllocator present{allocator, library, record::version_of(library), {}};
    Experiment experiment("trying settings");
    for (const record::KnownRemedy& remedy : record::known_remedies(allocator)) {
      if (remedy.always || remedy.huge_pages) continue;
      if (!record::why_no_effect(remedy, present, record::own_variables()).empty()) continue;
      const std::string name = allocator + ": " + remedy.name;
      if (!is_pinned_by(remedy.env, all, experiment)) {
        report_.tried.push_back(name);
        continue;
      }
      Pin pin;
      pin.name = name;
      pin.env = remedy.env;
      for (const auto& [key, value] : remedy.env) {
        pin.line += (pin.line.empty() ? "" : " ") + key + "=" + shell_word(value);
      }
      prove(pin, all);
      report_.pin = pin;
      return;
    }
  }

  /// Times the benchmarks concerned under a setting, and keeps the times of the benchmark that depends most on the
  /// order.
  void prove(Pin& pin, const std::vector<std::string>& all) {
    Report under;
    for (const std::string& name : all) under.benchmarks.emplace_back().name = name;
    time(under.benchmarks, pin.env, "timing with the setting");
    judge(under);
    double most = -1;
    for (const Benchmark& each : report_.benchmarks) {
      const double weight = each.time ? std::abs(each.time->log_ratio) : 0;
      if (!depends_on_order(each) || weight <= most) continue;
      most = weight;
      const auto found = std::find_if(under.benchmarks.begin(), under.benchmarks.end(),
                                      [&](const Benchmark& other) { return other.name == each.name; });
      pin.benchmark = each.name;
      pin.time = found->time;
      pin.alone_ns = median(found->alone.times_ns);
      pin.in_order_ns = median(found->in_order.times_ns);
    }
  }

  const Suite& suite_;
  Report& report_;
  Random random_;
  CountedRun in_order_;
  CountedRun shuffled_;
  std::vector<CountedRun> alone_;
};

/// Counts and times each benchmark alone and in order, and counts the shuffled benchmarks. For a benchmark that depends
/// on the order, finds the cause and a setting that ends the dependence. A signal ends the run early. Throws UsageError
/// for a program that fails.
Report run(const Suite& suite, const std::vector<std::string>& words, std::size_t rounds) {
  Report report;
  report.program = words;
  report.rounds = rounds;
  try {
    Running(suite, report).run();
  } catch (const Stop&) {
    report.state = Completion::kInterrupted;
    if (report.benchmarks.empty()) throw;
    judge(report);
  }
  return report;
}

constexpr const char* kExamples =
    "  zerotax bench -- ./benchmark\n"
    "  zerotax bench -- ./benchmark --benchmark_filter=Decode --benchmark_min_time=0.5\n"
    "  zerotax bench --json bench.json -- ./benchmark\n"
    "Exit status: 1 if a benchmark depends on the order.\n";

struct Options {
  std::int64_t rounds = kUsualPairs;
  double timeout_s = 60;
  std::string json;
};

ExitStatus bench(const Options& options) {
  const std::vector<std::string> words = Subcommand::program_words();
  if (words.empty()) {
    throw UsageError("no command is given", "give a command after --, as in zerotax bench -- ./benchmark");
  }
  constexpr std::int64_t kMostRounds = 200;
  if (options.rounds < static_cast<std::int64_t>(fewest_rounds(1)) || options.rounds > kMostRounds) {
    throw UsageError(fmt::format("--rounds {} is out of range", options.rounds),
                     fmt::format("give {} to {}", fewest_rounds(1), kMostRounds));
  }
  check_outputs({{"--json", options.json}}, program_input(words));
  const Suite suite(words, options.timeout_s);
  const std::string started = utc_now();
  Report report = run(suite, words, static_cast<std::size_t>(options.rounds));
  report.schema = "zerotax.bench/1";
  report.zerotax_version = ZEROTAX_VERSION;
  report.started = started;
  report.command = Subcommand::command_line;
  report.environment = describe_environment();
  if (!options.json.empty()) write_file(options.json, json_text(report));
  if (options.json != "-") {
    print_lines(stdout, wants_full_text() ? bench_text(report) : answer_text(bench_answer(report)));
  }
  if (report.state == Completion::kInterrupted) say_interrupted("the verdicts cover the benchmarks measured so far");
  for (const Benchmark& each : report.benchmarks) {
    if (each.verdict == Verdict::kOrderDependent) return ExitStatus::kFinding;
  }
  return ExitStatus::kDone;
}

const Subcommand command("bench", Wing::kRegression, "Find benchmarks that depend on the benchmarks before them",
                         kExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<Options>();
                           add_rounds(arguments, options->rounds,
                                      "number of pairs of runs, alone and in order; more for many benchmarks")
                               .with_default();
                           add_timeout(arguments, options->timeout_s);
                           add_json(arguments, options->json);
                           return [options] { return bench(*options); };
                         });

}  // namespace
}  // namespace zerotax::bench
