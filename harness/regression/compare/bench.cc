#include "compare/bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/fields.h"
#include "base/statistics.h"
#include "base/units.h"
#include "base/wrap.h"
#include "bench/result.h"
#include "compare/points.h"
#include "files/output_file.h"
#include "os/print.h"

namespace zerotax::compare {
namespace {

using exchange::OutcomeKind;

void judge(ComparedBenchmark& benchmark) {
  const Measured<bench::Counts>& before = benchmark.before.counts;
  const Measured<bench::Counts>& after = benchmark.after.counts;
  if (!before || !after) {
    benchmark.kind = OutcomeKind::kSkipped;
    benchmark.reason = before ? fmt::format("NEW: {}", after.why()) : fmt::format("OLD: {}", before.why());
    return;
  }
  bool more = false;
  bool less = false;
  for (const bench::CountRow& count : bench::kCounts) {
    const BenchChange change{&count, *before.*count.of, *after.*count.of};
    if (!bench::differs(count.unit, change.before, change.after)) continue;
    benchmark.changes.push_back(change);
    if (count.costs) (change.after > change.before ? more : less) = true;
  }
  benchmark.kind = benchmark.changes.empty() ? OutcomeKind::kSame
                   : more == less            ? OutcomeKind::kChanged
                   : more                    ? OutcomeKind::kWorse
                                             : OutcomeKind::kBetter;
}

const BenchEntry* entry_of(const BenchFile& file, const std::string& name) {
  const auto found = std::find_if(file.benchmarks.begin(), file.benchmarks.end(),
                                  [&](const BenchEntry& each) { return each.name == name; });
  return found == file.benchmarks.end() ? nullptr : &*found;
}

void add_both_orders(const std::string& name, const BenchEntry* before, const BenchEntry* after,
                     std::vector<ComparedBenchmark>& all) {
  for (const bool in_order : {false, true}) {
    const auto part = in_order ? &BenchEntry::in_order : &BenchEntry::alone;
    ComparedBenchmark& each = all.emplace_back();
    each.name = name;
    each.in_order = in_order;
    if (before != nullptr) each.before = before->*part;
    if (after != nullptr) each.after = after->*part;
    judge(each);
  }
}

bool any_is(const BenchComparison& comparison, OutcomeKind kind) {
  return std::any_of(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                     [&](const ComparedBenchmark& each) { return each.kind == kind; });
}

/// The first benchmark of the kind that decides.
std::string sentence_of(const BenchComparison& comparison) {
  const auto differing = std::count_if(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                                       [](const ComparedBenchmark& each) { return !each.changes.empty(); });
  const std::string word = exchange::word_of(comparison.kind);
  if (comparison.kind == OutcomeKind::kSkipped) return word + ": no benchmark was counted in both files";
  const auto compared = std::count_if(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                                      [](const auto& each) { return each.kind != OutcomeKind::kSkipped; });
  if (differing == 0) {
    return fmt::format("{}: counts of {} agree", word,
                       format_counted(static_cast<std::size_t>(compared), "benchmark run"));
  }
  const auto first = std::find_if(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                                  [&](const ComparedBenchmark& each) { return each.kind == comparison.kind; });
  return fmt::format("{}: {}: {}; {} of {} {}", word, label_of(*first), words_of(first->changes.front()), differing,
                     format_counted(static_cast<std::size_t>(compared), "benchmark run"),
                     differing == 1 ? "differs" : "differ");
}

using exchange::OutcomeKind;

std::string changes_text(const ComparedBenchmark& each) {
  std::vector<std::string> words;
  for (const BenchChange& change : each.changes) words.push_back(words_of(change));
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string ratio_of_medians(const ComparedBenchmark& each) {
  if (each.before.times_ns.empty() || each.after.times_ns.empty()) return "n/a";
  return format_number(median(each.after.times_ns) / median(each.before.times_ns));
}

/// The options about points, or about a measurement here and now.
void check_options(const Options& options) {
  std::vector<Argument> others = options.of_measuring;
  others.insert(others.end(), options.of_points.begin(), options.of_points.end());
  for (const Argument& option : others) {
    if (!option.given()) continue;
    const std::string name = option.name();
    if (name == "--junit" || name == "--markdown" || name == "--bmf" || name == "--github") continue;
    throw UsageError(fmt::format("{} has no effect on files of zerotax bench", name), "leave it out");
  }
}

}  // namespace

std::string words_of(const BenchChange& change) {
  const auto value = [&](double number) {
    return change.count->unit == Unit::kBytes ? bench::bytes_words(number) : format_number(std::max(0.0, number));
  };
  return fmt::format("{} {} → {}", change.count->name, value(change.before), value(change.after));
}

std::string label_of(const ComparedBenchmark& benchmark) {
  return fmt::format("{}, {}", benchmark.name, benchmark.in_order ? "in order" : "alone");
}

BenchComparison compare_bench_files(BenchFile before, BenchFile after) {
  BenchComparison comparison;
  for (const BenchEntry& each : before.benchmarks) {
    add_both_orders(each.name, &each, entry_of(after, each.name), comparison.benchmarks);
  }
  for (const BenchEntry& each : after.benchmarks) {
    if (entry_of(before, each.name) == nullptr) add_both_orders(each.name, nullptr, &each, comparison.benchmarks);
  }
  using enum OutcomeKind;
  comparison.kind = kSkipped;
  for (const OutcomeKind kind : {kSame, kBetter, kChanged, kWorse}) {
    if (any_is(comparison, kind)) comparison.kind = kind;
  }
  comparison.sentence = sentence_of(comparison);
  const std::string conditions = differing_conditions(before.environment, after.environment);
  if (!conditions.empty())
    comparison.notes.push_back("The files were measured under other conditions: " + conditions + ".");
  comparison.notes.emplace_back("Times were not measured in pairs: they are shown, and decide nothing.");
  comparison.before = std::move(before);
  comparison.after = std::move(after);
  return comparison;
}

std::string bench_text(const BenchComparison& comparison) {
  std::string text = wrap(comparison.sentence, "", "  ");
  constexpr Column::Side kRight = Column::Side::kRight;
  Table table({{"benchmark"},
               {""},
               {"OLD", Unit::kText, 0, "n/a", std::nullopt, 2, kRight},
               {"NEW", Unit::kText, 0, "n/a", std::nullopt, 2, kRight},
               {"NEW/OLD", Unit::kText, 0, "n/a", std::nullopt, 2, kRight},
               {"counts", Unit::kText, 0, "n/a", std::nullopt, 2}});
  for (const ComparedBenchmark& each : comparison.benchmarks) {
    table.add({each.in_order ? "" : each.name, each.in_order ? "in order" : "alone", time_text(each.before),
               time_text(each.after), ratio_of_medians(each), word_of(each.kind)});
  }
  text += "\n" + table.text();
  for (const ComparedBenchmark& each : comparison.benchmarks) {
    if (each.kind == OutcomeKind::kSame) continue;
    const std::string what = each.reason.empty() ? changes_text(each) : "not compared: " + each.reason;
    text += wrap(fmt::format("{}: {}", label_of(each), what), "", "  ");
  }
  for (const std::string& note : comparison.notes) text += wrap(note, "", "  ");
  return text;
}

exchange::OutcomeList bench_outcomes(const BenchComparison& comparison) {
  exchange::OutcomeList list;
  list.command = "zerotax compare";
  list.subject = fmt::format("{} and {}", comparison.before.path, comparison.after.path);
  list.kind = comparison.kind;
  list.sentence = comparison.sentence;
  list.thing = "benchmark";
  list.notes = comparison.notes;
  for (const ComparedBenchmark& each : comparison.benchmarks) {
    exchange::Outcome& outcome = list.outcomes.emplace_back();
    outcome.suite = "zerotax bench";
    outcome.name = label_of(each);
    outcome.kind = each.kind;
    outcome.fails = each.kind == OutcomeKind::kWorse;
    outcome.verdict = word_of(each.kind);
    outcome.headline = !each.reason.empty() ? each.reason : each.changes.empty() ? "counts agree" : changes_text(each);
    if (!each.after.counts) continue;
    exchange::Benchmark& benchmark = list.benchmarks.emplace_back(exchange::Benchmark{label_of(each), {}});
    for (const bench::CountRow& count : bench::kCounts) {
      benchmark.measures.push_back({count.key, *each.after.counts.*count.of});
    }
  }
  return list;
}

ExitStatus compare_bench(const Options& options) {
  check_options(options);
  check_outputs(options.exchange.outputs(), {{"OLD", options.before}, {"NEW", options.after}});
  const BenchComparison comparison =
      compare_bench_files(read_bench_file(options.before), read_bench_file(options.after));
  options.exchange.publish(bench_outcomes(comparison), bench_compare_json(comparison), bench_text(comparison));
  if (comparison.kind == OutcomeKind::kSkipped) return ExitStatus::kMachine;
  return comparison.kind == OutcomeKind::kWorse ? ExitStatus::kFinding : ExitStatus::kDone;
}

}  // namespace zerotax::compare
