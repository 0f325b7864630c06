#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/paired_times.h"
#include "base/table.h"

namespace zerotax::bench {

struct Counts {
  RESULT("counts", "The costs of one iteration, without its time.");
  FIELD(double, minor_faults, "Number of minor page faults, without faults of the recorder.", kAnySign);
  FIELD(double, kernel_zeroed_bytes,
        "Bytes that the kernel zeroed: the growth of anonymous memory plus returned bytes.", kAnySign);
  FIELD(double, refilled_bytes, "The part of the kernel-zeroed bytes beyond what the process had held at its peak.",
        kAnySign);
  FIELD(double, returned_bytes, "Populated bytes that were returned to the kernel.", kAnySign);
  FIELD(double, zeroed_bytes, "Bytes that the allocator zeroed itself, outside free.", kAnySign);
  FIELD(double, by_hand_bytes, "Bytes that the program zeroed by memset.", kAnySign);
  FIELD(double, calls, "Calls to malloc, calloc and realloc.", kAnySign);
};

/// A count of one iteration.
struct CountRow {
  const char* key;
  const char* name;  ///< display name
  double Counts::*of;
  Unit unit;
  bool costs;  ///< whether an increase is worse; otherwise the count is only descriptive
};
inline constexpr CountRow kCounts[] = {
    {"minor_faults", "page faults", &Counts::minor_faults, Unit::kNumber, true},
    {"kernel_zeroed_bytes", "kernel-zeroed bytes", &Counts::kernel_zeroed_bytes, Unit::kBytes, true},
    {"refilled_bytes", "refilled bytes", &Counts::refilled_bytes, Unit::kBytes, true},
    {"returned_bytes", "returned bytes", &Counts::returned_bytes, Unit::kBytes, true},
    {"zeroed_bytes", "zeroed bytes", &Counts::zeroed_bytes, Unit::kBytes, true},
    {"by_hand_bytes", "bytes zeroed by hand", &Counts::by_hand_bytes, Unit::kBytes, true},
    {"calls", "calls to the allocator", &Counts::calls, Unit::kNumber, false},
};

struct Observed {
  RESULT("observed", "Times and counts of a benchmark in one order, per iteration.");
  FIELD(std::vector<double>, times_ns, "The time of one iteration in each run without the recorder, in nanoseconds.");
  MEMBER(counts, "The counts per iteration, from the runs with the recorder.");
  Measured<Counts> counts{NotAvailable{"the benchmark was not run in this order"}};
};

struct Cause {
  RESULT("cause", "The reason why a benchmark depends on the order.");
  FIELD(std::string, before,
        "The earlier benchmark that makes this benchmark depend on the order. Empty if no single benchmark does, "
        "or if nothing depends on the order.",
        kMayBeEmpty);
  FIELD(std::string, place,
        "The call site that returns the most memory, in the order with more refilled bytes; may be empty.",
        kMayBeEmpty);
};

enum class Verdict : std::uint8_t { kSame, kOrderDependent, kCountsDiffer, kUnknown };
ENUM_WORDS(Verdict, "independent", "order-dependent", "counts differ", "unknown")

struct TimeInOrder {
  RESULT("time", "The ratio of the time in order to the time alone, judged by the rules of zerotax compare.");
  FIELD(TimeVerdict::Kind, verdict,
        "The verdict on the benchmark's time in the program's order, compared with its time alone.", kTimeWords);
  FIELD(double, ratio, "Hodges-Lehmann estimate of the ratio.");
  FIELD(double, low, "Lower end of the ratio's 95 % interval.");
  FIELD(double, high, "Upper end of the ratio's 95 % interval.");
  FIELD(double, p, "P-value of Wilcoxon's signed-rank test, corrected for the number of benchmarks.");
  double log_ratio = 0;  ///< absent from the document
};

struct Benchmark {
  RESULT("benchmark", "A benchmark and its verdict.");
  FIELD(std::string, name, "Name of the benchmark.");
  FIELD(Observed, alone, "Times and counts of the benchmark alone in a separate process.");
  FIELD(Observed, in_order, "Times and counts of the benchmark after all earlier benchmarks of the program.");
  FIELD(Observed, shuffled,
        "Counts of the benchmark among all benchmarks in random order, without times; with Google Benchmark, of three "
        "orders. n/a if the framework has no random order.");
  FIELD(Cause, cause, "The reason why the benchmark depends on the order.");
  FIELD(std::string, sentence, "The verdict in words.");
  MEMBER(verdict,
         "independent: the counts do not depend on the order. order-dependent: the counts and the time depend on "
         "the order. counts differ: the counts depend on the order, but no difference of time is proven. unknown:"
         " the benchmark was not counted.");
  Verdict verdict = Verdict::kUnknown;
  MEMBER(time, "The benchmark's time in the program's order, compared with its time alone.");
  Measured<TimeInOrder> time{NotAvailable{"nothing was timed"}};
};

using Variables = std::map<std::string, std::string>;

struct Pin {
  RESULT("pin", "A setting under which no benchmark depends on the order.");
  FIELD(std::string, name, "Name of the setting among the remedies of zerotax advise.");
  FIELD(Variables, env, "Environment variables of the setting.", kMayBeEmpty);
  FIELD(std::string, line, "Text to put before the command to apply the setting.");
  FIELD(std::string, benchmark, "The benchmark that depended most on the order.");
  FIELD(double, alone_ns, "Median time of the benchmark `benchmark` alone under the setting, in nanoseconds.");
  FIELD(double, in_order_ns,
        "Median time of the benchmark `benchmark` in the program's order under the setting, in nanoseconds.");
  MEMBER(
      time,
      "The time of the benchmark `benchmark` in the program's order under the setting, compared with its time alone.");
  Measured<TimeInOrder> time{NotAvailable{"nothing was timed"}};
};

struct Report : DocumentHead {
  RESULT("zerotax bench",
         "Benchmarks of a program that depend on the benchmarks before them, as written by `zerotax bench --json FILE "
         "-- ./benchmark`.");
  SCHEMA_FIELD("zerotax.bench/1");
  VERSION_FIELD();
  STARTED_FIELD();
  MEMBER(command, "The command line, as a list of words.", kMayBeEmpty);
  ENVIRONMENT_FIELD();
  FIELD(std::vector<std::string>, program, "The benchmark program and its arguments.", least_items(1), kMayBeEmpty);
  FIELD(std::size_t, rounds,
        "Number of timed pairs of runs of each benchmark: one run alone, and one run in the program's order.",
        least(1));
  FIELD(std::vector<Benchmark>, benchmarks, "The benchmarks, in the order of the program.");
  FIELD(std::vector<std::string>, tried, "Settings that were tried, under which benchmarks still depend on the order.",
        kMayBeEmpty);
  FIELD(std::string, sentence, "The verdict in one sentence.");
  FIELD(std::string, next, "The command to use in CI.");
  FIELD(Completion, state, "interrupted: a signal arrived before everything was measured.");
  FIELD(Measured<Pin>, pin, "A setting under which no benchmark depends on the order.");
};

/// Returns whether two counts of one iteration differ: by at least a tenth, and by at least 2 (or 1, if the difference
/// is at least half). For bytes, the 2 and the 1 are pages.
bool differs(Unit unit, double one, double other);

/// Returns whether page faults or zeroed bytes of an iteration differ. False if either side is n/a.
bool differ(const Measured<Counts>& one, const Measured<Counts>& other);

/// Returns whether the counts of a benchmark depend on the order.
bool depends_on_order(const Benchmark& benchmark);

/// Returns a mean in words, such as "7.88 MiB".
std::string bytes_words(double bytes);

/// Sets the verdict of each benchmark and of the report: counts are judged by their difference, times by their pairs.
void judge(Report& report);

/// Returns the answer on one screen: the benchmarks that depend on the order, the largest ratio first.
Answer bench_answer(const Report& report);

/// Returns the text: the verdict in the first line, then a row for each benchmark, and the remedy. The text has at most
/// 80 columns, except for names and the line to paste.
std::string bench_text(const Report& report);

/// Returns the median time of an iteration in nanoseconds.
Measured<double> median_ns(const Observed& observed);
/// Returns the time of an iteration in words, or "n/a" if no time is known.
std::string time_text(const Measured<double>& ns);

}  // namespace zerotax::bench
