// Compares an allocator with itself, and counts the comparisons in which any point is FASTER or SLOWER. docs/compare.md
// promises at most 1 %.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "cli/arguments.h"
#include "cli/common_options.h"
#include "cli/measure_options.h"
#include "compare/compare_document.h"
#include "compare/points.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "run/experiment.h"
#include "run/interrupt.h"

namespace {

using namespace zerotax;
using namespace zerotax::compare;

struct Options {
  std::string allocator = "glibc";
  std::vector<std::string> sizes{"64KiB", "512KiB"};
  std::int64_t comparisons = 100;
  std::string json;
  bool smoke = false;
};

ComparePlan plan_of(const Options& options, const CompareMethod& method) {
  ComparePlan plan;
  std::tie(plan.before, plan.after) = resolve_sides(options.allocator, options.allocator, {});
  MeasureOptions measure;
  measure.sizes = options.sizes;
  measure.touches = {0, 1};
  if (options.smoke) {
    measure.sizes.resize(1);
    measure.touches = {0};
    measure.threads = {"main"};
  }
  plan.axes = measure.axes();
  const std::size_t points = planned_points(plan).size();
  plan.pairs = static_cast<unsigned>(std::max<std::size_t>(kUsualPairs, fewest_pairs(points, method.alpha)));
  plan.coins = method.seed;
  return plan;
}

/// Returns one comparison of the allocator with itself.
CompareReport compared(const ComparePlan& plan, const CompareMethod& method) {
  CompareReport report;
  report.method = method;
  report.before = {plan.before, "", describe_environment()};
  report.after = {plan.after, "", report.before.environment};
  report.cost = plan.cost;
  report.pairs = plan.pairs;
  report.whole = measure_comparison(plan, report.points);
  report.verdicts = judge_points(report.points, method);
  report.shuffles = 1000;
  report.shuffled_rate = false_alarm_rate(time_samples(report.points), report.shuffles, method);
  return report;
}

bool has_alarm(const CompareReport& report) {
  return any_of_kind(report.verdicts, CompareKind::kFaster) || any_of_kind(report.verdicts, CompareKind::kSlower);
}

int run(const Options& options) {
  const CompareMethod method;
  ComparePlan plan = plan_of(options, method);
  warm_up(2 * *std::max_element(plan.axes.sizes.begin(), plan.axes.sizes.end()));
  CompareDocument document = compare_document(compared(plan, method));
  SelfTest test;
  Item item;
  item.measure = [&](const Say& say) {
    say(fmt::format("{} false alarms", test.alarms));
    ++plan.coins;
    const CompareReport report = compared(plan, method);
    if (!report.whole) throw Stop{};
    ++test.comparisons;
    if (has_alarm(report)) ++test.alarms;
  };
  const auto times = static_cast<std::size_t>(options.smoke ? 1 : options.comparisons);
  const bool whole = Experiment("comparing the allocator with itself").run(std::vector<Item>(times, item));
  document.state = completion(whole);
  document.false_alarms.self_test = test;
  const Interval range = binomial_interval(test.alarms, test.comparisons);
  document.notes.push_back(fmt::format(
      "OLD compared with itself: {} of {} comparisons have a false alarm (95 % interval {:.2g} to {:.2g} %).",
      test.alarms, test.comparisons, 100 * range.low, 100 * range.high));
  if (!options.json.empty()) write_file(options.json, json_text(document));
  fmt::print("{}\n", document.notes.back());
  return test.alarms == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto add = [&](Arguments arguments) {
    arguments.option("--allocator", options.allocator, "the allocator (default: glibc)");
    arguments.option("--size", options.sizes, "sizes of blocks (default: 64KiB and 512KiB)");
    arguments.option("--comparisons", options.comparisons, "number of comparisons").in_range(1, 100'000).with_default();
    arguments.option("--json", options.json, "write the first comparison, with the numbers, to this file").path();
    arguments.flag("--smoke", options.smoke, "only check that the benchmark runs, with one comparison at one point");
  };
  const auto start = [&] {
    catch_interrupts();
    return run(options);
  };
  return standalone_main("benchmark-compare-alarms",
                         "measure how often compare reports a difference between an allocator and itself", argc, argv,
                         add, start);
}
