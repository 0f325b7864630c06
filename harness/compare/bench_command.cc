#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/bootstrap.h"
#include "base/error.h"
#include "base/units.h"
#include "base/wrap.h"
#include "compare/bench.h"
#include "files/output_paths.h"
#include "os/print.h"

namespace zerotax::compare {
namespace {

using exchange::OutcomeKind;

std::string changes_text(const ComparedBenchmark& each) {
  std::vector<std::string> words;
  for (const BenchChange& change : each.changes) words.push_back(words_of(change));
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string median_text(const bench::Observed& observed) {
  if (observed.times_ns.empty()) return "n/a";
  constexpr double kFew_ns = 10;
  const double ns = median(observed.times_ns);
  return ns < kFew_ns ? format_number(ns) + " ns" : format_ns(ns);
}

std::string ratio_of_medians(const ComparedBenchmark& each) {
  if (each.before.times_ns.empty() || each.after.times_ns.empty()) return "n/a";
  return format_number(median(each.after.times_ns) / median(each.before.times_ns));
}

/// The options that are about points, or what is measured here and now.
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
    table.add({each.in_order ? "" : each.name, each.in_order ? "in order" : "alone", median_text(each.before),
               median_text(each.after), ratio_of_medians(each), word_of(each.kind)});
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
  const exchange::OutcomeList outcomes = bench_outcomes(comparison);
  options.exchange.write(outcomes, bench_compare_json(comparison));
  if (!options.exchange.silent()) print_lines(stdout, bench_text(comparison));
  options.exchange.print_annotations(outcomes);
  if (comparison.kind == OutcomeKind::kSkipped) return ExitStatus::kMachine;
  return comparison.kind == OutcomeKind::kWorse ? ExitStatus::kFinding : ExitStatus::kDone;
}

}  // namespace zerotax::compare
