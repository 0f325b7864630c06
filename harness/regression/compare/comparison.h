#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/plot_canvas.h"
#include "base/table.h"
#include "compare/verdict.h"
#include "exchange/outcome.h"

namespace zerotax::compare {

/// Comparisons of OLD with itself.
struct SelfTest {
  std::size_t comparisons = 0;
  std::size_t alarms = 0;  ///< comparisons with any point FASTER or SLOWER
};

/// What OLD or NEW is.
struct ComparedThing {
  std::optional<Allocator> allocator;
  std::string file;  ///< of a stored run, where it is no allocator
  Json environment;  ///< where it was measured
};

/// A comparison, whole.
struct CompareReport {
  ComparedThing before;  ///< OLD
  ComparedThing after;   ///< NEW
  bool measured = true;  ///< here and now, in pairs; else from run files
  Cost cost = Cost::kTotal;
  unsigned pairs = 0;  ///< planned at each point; 0: run files
  std::vector<ComparedPoint> points;
  std::vector<CompareVerdict> verdicts;
  CompareMethod method;
  std::size_t shuffles = 0;
  std::optional<double> shuffled_rate;  ///< false_alarm_rate
  std::optional<SelfTest> self_test;
  bool whole = true;  ///< not interrupted
};

/// "glibc 2.36 KEY=VALUE", or a file's path.
std::string side_label(const ComparedThing& side);
/// "64 KiB touch 1 worker", with case and allocator where several are compared.
std::string point_label(const CompareReport& report, std::size_t i);
/// How many of each verdict: "3 SAME, 1 SLOWER".
std::string count_text(const std::vector<CompareVerdict>& verdicts);
/// What the false-alarm rates are, in a sentence or two.
std::string false_alarm_text(const CompareReport& report);
/// The median of one side's times of some pairs, in nanoseconds; 0 if there are none.
double median_ns(const std::vector<CostPair>& pairs, double CostPair::*side);
/// The median of a side's times in nanoseconds, over processes; nothing if there is none.
std::optional<double> side_ns(const ComparedPoint& point, bool after);
/// A ratio to three digits.
std::string ratio_text(double log_ratio);

/// At most 80 columns.
std::string compare_text(const CompareReport& report, const Palette& palette = {});
/// The ratio of each point with its interval, as a picture. Empty if no point has a ratio.
std::string compare_plot(const CompareReport& report, const PlotStyle& style);
/// How the verdict of one point came about.
std::string explain_text(const CompareReport& report, std::size_t i);
/// The verdict of the comparison as a whole: worse if a point is SLOWER, better if one is FASTER, skipped if nothing
/// was decided (compare_status).
exchange::OutcomeKind compare_kind(const std::vector<CompareVerdict>& verdicts);
/// What one must know besides the verdicts, a sentence each.
std::vector<std::string> compare_notes(const CompareReport& report);
/// What other programs' formats show: an outcome for each point, the figures of NEW as benchmarks.
exchange::OutcomeList compare_outcomes(const CompareReport& report);
/// One row for each point, a header before them.
std::string compare_csv(const CompareReport& report);
/// The object of "zerotax.compare/1" (results/schema/compare.schema.json).
Json compare_json(const CompareReport& report);
/// Adds a further comparison with OLD to such an object.
void add_more(Json& document, Json more);
/// One side as Google Benchmark writes it: every process is a repetition.
Json google_benchmark_json(const CompareReport& report, bool after);

}  // namespace zerotax::compare
