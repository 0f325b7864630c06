#include "compare/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bootstrap.h"
#include "base/units.h"
#include "bench/verdict.h"
#include "compare/run_file.h"

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

/// The first of the kind that decides.
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

}  // namespace zerotax::compare
