#include "compare/bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/lines.h"
#include "base/units.h"
#include "bench/result.h"
#include "cli/terminal_options.h"
#include "compare/points.h"
#include "files/document.h"
#include "files/output_file.h"
#include "os/print.h"

namespace zerotax::compare {
namespace {

using exchange::OutcomeKind;

/// Returns words such as "page faults 0 → 2,048".
std::string words_of(const bench::CountRow& count, double before, double after) {
  const auto value = [&](double number) {
    return count.unit == Unit::kBytes ? bench::bytes_words(number) : format_number(std::max(0.0, number));
  };
  return fmt::format("{} {} → {}", count.name, value(before), value(after));
}

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
    const double old_count = *before.*count.of;
    const double new_count = *after.*count.of;
    if (!bench::differs(count.unit, old_count, new_count)) continue;
    benchmark.changes.push_back({count.key, old_count, new_count, words_of(count, old_count, new_count)});
    if (count.costs) (new_count > old_count ? more : less) = true;
  }
  benchmark.kind = benchmark.changes.empty() ? OutcomeKind::kSame
                   : more == less            ? OutcomeKind::kChanged
                   : more                    ? OutcomeKind::kWorse
                                             : OutcomeKind::kBetter;
}

const bench::Benchmark* entry_of(const BenchFile& file, const std::string& name) {
  const auto found = std::find_if(file.benchmarks.begin(), file.benchmarks.end(),
                                  [&](const bench::Benchmark& each) { return each.name == name; });
  return found == file.benchmarks.end() ? nullptr : &*found;
}

BenchSide side_of(const bench::Observed& observed) { return {bench::median_ns(observed), observed.counts}; }

void add_both_orders(const std::string& name, const bench::Benchmark* before, const bench::Benchmark* after,
                     std::vector<ComparedBenchmark>& all) {
  for (const bool in_order : {false, true}) {
    const auto part = in_order ? &bench::Benchmark::in_order : &bench::Benchmark::alone;
    ComparedBenchmark& each = all.emplace_back();
    each.name = name;
    each.order = in_order ? "in order" : "alone";
    if (before != nullptr) each.before = side_of(before->*part);
    if (after != nullptr) each.after = side_of(after->*part);
    judge(each);
  }
}

bool any_is(const BenchComparison& comparison, OutcomeKind kind) {
  return std::any_of(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                     [&](const ComparedBenchmark& each) { return each.kind == kind; });
}

/// Returns the verdict in one sentence, with the first benchmark that has the deciding verdict.
std::string sentence_of(const BenchComparison& comparison) {
  const auto differing = std::count_if(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                                       [](const ComparedBenchmark& each) { return !each.changes.empty(); });
  const std::string verdict = word(comparison.kind);
  if (comparison.kind == OutcomeKind::kSkipped) return verdict + ": no benchmark was counted in both files";
  const auto compared = std::count_if(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                                      [](const auto& each) { return each.kind != OutcomeKind::kSkipped; });
  if (differing == 0) {
    return fmt::format("{}: counts of {} agree", verdict,
                       format_counted(static_cast<std::size_t>(compared), "benchmark run"));
  }
  const auto first = std::find_if(comparison.benchmarks.begin(), comparison.benchmarks.end(),
                                  [&](const ComparedBenchmark& each) { return each.kind == comparison.kind; });
  return fmt::format("{}: {}: {}; {} of {} {}", verdict, label_of(*first), first->changes.front().line, differing,
                     format_counted(static_cast<std::size_t>(compared), "benchmark run"),
                     differing == 1 ? "differs" : "differ");
}

using exchange::OutcomeKind;

std::string changes_text(const ComparedBenchmark& each) {
  std::vector<std::string> words;
  for (const BenchChange& change : each.changes) words.push_back(change.line);
  return fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace

std::string label_of(const ComparedBenchmark& benchmark) {
  return fmt::format("{}, {}", benchmark.name, benchmark.order);
}

void refuse_other_options(const Options& options, const char* command) {
  std::vector<Argument> others = options.of_measuring;
  others.insert(others.end(), options.of_points.begin(), options.of_points.end());
  for (const Argument& option : others) {
    if (!option.given()) continue;
    const std::string name = option.name();
    if (name == "--junit" || name == "--markdown" || name == "--bmf" || name == "--github") continue;
    throw UsageError(fmt::format("{} has no effect on files of zerotax {}", name, command), "leave out the option");
  }
}

bool is_document(const std::string& path, const std::string& schema) {
  // Other files are skipped, because opening a pipe would wait for a writer.
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 64> start{};
  file.read(start.data(), start.size());
  return std::string_view(start.data(), static_cast<std::size_t>(file.gcount())).find('"' + schema + '"') !=
         std::string_view::npos;
}

BenchFile read_bench_file(const std::string& path) {
  auto report = read_document(path, "bench", "give two files that zerotax bench --json wrote").get<bench::Report>();
  return {path, std::move(report.program), std::move(report.environment), std::move(report.benchmarks)};
}

BenchComparison compare_bench_files(BenchFile before, BenchFile after) {
  BenchComparison comparison;
  for (const bench::Benchmark& each : before.benchmarks) {
    add_both_orders(each.name, &each, entry_of(after, each.name), comparison.benchmarks);
  }
  for (const bench::Benchmark& each : after.benchmarks) {
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
    comparison.notes.push_back("The files were measured under different conditions: " + conditions + ".");
  comparison.notes.emplace_back("Times were not measured in pairs: they are shown, and decide nothing.");
  comparison.before = std::move(before);
  comparison.after = std::move(after);
  return comparison;
}

std::string ratio_of_medians(const ComparedBenchmark& each) {
  if (!each.before.ns || !each.after.ns) return "n/a";
  return format_number(*each.after.ns / *each.before.ns);
}

std::string bench_text(const BenchComparison& comparison) {
  std::string text = wrap(comparison.sentence, "", "  ");
  Table table({{"benchmark"},
               {""},
               right_text("OLD", 0, 2),
               right_text("NEW", 0, 2),
               right_text("NEW/OLD", 0, 2),
               {"counts", Unit::kText, 0, "n/a", std::nullopt, 2}});
  for (const ComparedBenchmark& each : comparison.benchmarks) {
    table.add({each.order == "in order" ? "" : each.name, each.order, bench::time_text(each.before.ns),
               bench::time_text(each.after.ns), ratio_of_medians(each), word(each.kind)});
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
    outcome.verdict = word(each.kind);
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
  refuse_other_options(options, "bench");
  check_outputs(options.exchange.outputs(), {{"OLD", options.before}, {"NEW", options.after}});
  const BenchComparison comparison =
      compare_bench_files(read_bench_file(options.before), read_bench_file(options.after));
  options.exchange.publish(bench_outcomes(comparison), document_of(comparison),
                           wants_full_text() ? bench_text(comparison) : answer_text(bench_answer(comparison)));
  if (comparison.kind == OutcomeKind::kSkipped) return ExitStatus::kMachine;
  return comparison.kind == OutcomeKind::kWorse ? ExitStatus::kFinding : ExitStatus::kDone;
}

}  // namespace zerotax::compare
