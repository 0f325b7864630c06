#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/json.h"
#include "base/plot_canvas.h"
#include "base/table.h"
#include "compare/verdict.h"
#include "exchange/outcome.h"

namespace zerotax::compare {

/// One side of a comparison: OLD or NEW.
struct ComparedThing {
  std::optional<Allocator> allocator;
  std::string file;  ///< if there is no single allocator: path of the stored run
  Json environment;  ///< the environment of the measurement
};

/// A whole comparison.
struct CompareReport {
  ComparedThing before;  ///< OLD
  ComparedThing after;   ///< NEW
  bool measured = true;  ///< whether both sides were measured now, in pairs; otherwise they come from run files
  Cost cost = Cost::kTotal;
  unsigned pairs = 0;  ///< number of pairs planned at each point; 0 for run files
  std::vector<ComparedPoint> points;
  std::vector<CompareVerdict> verdicts;
  CompareMethod method;
  std::size_t shuffles = 0;
  std::optional<double> shuffled_rate;  ///< result of false_alarm_rate
  bool whole = true;                    ///< false if the comparison was interrupted
};

/// Returns "glibc 2.36 KEY=VALUE", or the path of a file.
std::string side_label(const ComparedThing& side);
/// Returns a label such as "64 KiB touch 1 worker", with case and allocator if several are compared.
std::string point_label(const CompareReport& report, std::size_t i);
/// Returns the number of points with each verdict, such as "3 SAME, 1 SLOWER".
std::string count_text(const std::vector<CompareVerdict>& verdicts);
/// Returns the false-alarm rates in one or two sentences.
std::string false_alarm_text(const CompareReport& report);
/// Returns the median of one side's times over some pairs, in nanoseconds; 0 without pairs.
double median_ns(const std::vector<CostPair>& pairs, double CostPair::*side);
/// Returns the median of a side's times over its processes, in nanoseconds; nothing without times.
std::optional<double> side_ns(const ComparedPoint& point, bool after);
/// Returns a ratio with three digits.
std::string ratio_text(double log_ratio);

/// Returns the interval of a ratio of times; empty if no pairs were timed.
std::string interval_text(const TimeVerdict& time);
/// Returns the word for a verdict, in its color.
std::string verdict_word(CompareKind kind, const Palette& palette);

/// Returns the answer on one screen: the points by the size of their change. `command` contains the words of the
/// command line.
Answer compare_answer(const CompareReport& report, const std::vector<std::string>& command, const Palette& palette);
/// Returns the answer on one screen for several stored runs that are each compared with OLD. Each run has a row.
Answer compare_answer(const std::vector<const CompareReport*>& reports);
/// Returns the text, at most 80 columns wide.
std::string compare_text(const CompareReport& report, const Palette& palette = {});
/// Returns a picture of the ratio of each point with its interval. Empty if no point has a ratio.
std::string compare_plot(const CompareReport& report, const PlotStyle& style);
/// Returns text that explains how the verdict on one point was reached.
std::string explain_text(const CompareReport& report, std::size_t i);
/// Returns the verdict on the whole comparison: worse if a point is SLOWER, better if one is FASTER, skipped if nothing
/// was decided (compare_status).
exchange::OutcomeKind compare_kind(const std::vector<CompareVerdict>& verdicts);
/// Returns the notes that qualify the verdicts, a sentence each.
std::vector<std::string> compare_notes(const CompareReport& report);
/// Returns the comparison for the file formats of other programs: an outcome for each point, and the metrics of NEW as
/// benchmarks.
exchange::OutcomeList compare_outcomes(const CompareReport& report);
/// Returns a header, and one row for each point.
std::string compare_csv(const CompareReport& report);
/// Returns one side in the format of Google Benchmark. Every process is a repetition.
Json google_benchmark_json(const CompareReport& report, bool after);

}  // namespace zerotax::compare
