#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/paired_times.h"
#include "base/table.h"

namespace zerotax::bench {

// The fields below are keys of results/schema/bench.schema.json.

/// What one iteration costs besides time.
struct Counts {
  double minor_faults = 0;
  double kernel_zeroed_bytes = 0;
  double refilled_bytes = 0;  ///< of those: beyond what the process had held at its peak
  double returned_bytes = 0;
  double zeroed_bytes = 0;   ///< by the allocator, outside free
  double by_hand_bytes = 0;  ///< by memsets of the program
  double calls = 0;          ///< of malloc, calloc and realloc
};

/// A count of one iteration.
struct CountRow {
  const char* key;
  const char* name;  ///< for people
  double Counts::*of;
  Unit unit;
  bool costs;  ///< more is worse; else it only describes
};
inline constexpr CountRow kCounts[] = {
    {"minor_faults", "page faults", &Counts::minor_faults, Unit::kNumber, true},
    {"kernel_zeroed_bytes", "kernel-zeroed bytes", &Counts::kernel_zeroed_bytes, Unit::kBytes, true},
    {"refilled_bytes", "refilled bytes", &Counts::refilled_bytes, Unit::kBytes, true},
    {"returned_bytes", "returned bytes", &Counts::returned_bytes, Unit::kBytes, true},
    {"zeroed_bytes", "zeroed bytes", &Counts::zeroed_bytes, Unit::kBytes, true},
    {"by_hand_bytes", "bytes zeroed by hand", &Counts::by_hand_bytes, Unit::kBytes, true},
    {"calls", "calls of the allocator", &Counts::calls, Unit::kNumber, false},
};

/// What is known of a benchmark under one order.
struct Observed {
  std::vector<double> times_ns;                             ///< of an iteration, one of each run without the recorder
  Measured<Counts> counts{NotAvailable{"it was not run"}};  ///< of an iteration, of the runs with it
};

/// Why a benchmark depends on the order.
struct Cause {
  std::string before;  ///< the benchmark that changes it by running before; empty: none is known to do so alone
  std::string place;   ///< where memory is returned that is filled again: "free in Fill (bench.cc:12)"; may be empty
};

enum class Verdict : std::uint8_t {
  kSame,            ///< counts do not depend on the order
  kOrderDependent,  ///< counts do, and so does the time
  kCountsDiffer,    ///< counts do; that the time does is not proven
  kUnknown,         ///< nothing was counted
};
/// "independent", "order-dependent", "counts differ", "unknown".
const char* word_of(Verdict verdict);

struct Benchmark {
  std::string name;
  Observed alone;     ///< in a process of its own
  Observed in_order;  ///< after those before it
  Observed shuffled;  ///< among the others, in random order; not timed
  TimeVerdict time;   ///< in order against alone
  Verdict verdict = Verdict::kUnknown;
  Cause cause;
  std::string sentence;
};

/// A setting under which no benchmark depends on the order.
struct Pin {
  std::string name;  ///< "glibc: raised thresholds"
  std::map<std::string, std::string> env;
  std::string line;  ///< to put before the command
  /// Of the benchmark that differed most: its time in order, to that alone, under the setting.
  std::string benchmark;
  TimeVerdict time;
  double alone_ns = 0;  ///< medians under the setting
  double in_order_ns = 0;
};

struct Report : DocumentHead {
  bool complete = true;
  std::vector<std::string> program;
  std::size_t rounds = 0;
  std::vector<Benchmark> benchmarks;
  std::optional<Pin> pin;
  std::vector<std::string> tried;  ///< settings that were tried and did not pin it
  std::string sentence;
  std::string next;  ///< a line to paste into CI
};

void to_json(Json& json, const Counts& counts);
void from_json(const Json& json, Counts& counts);
void to_json(Json& json, const Observed& observed);
void from_json(const Json& json, Observed& observed);

/// The object "zerotax.bench/1" (results/schema/bench.schema.json).
Json bench_json(const Report& report);

/// Whether two counts of one iteration differ: by a tenth and by two (in bytes: two pages), or by half and by one.
bool differs(Unit unit, double one, double other);

/// Whether an iteration costs something else: page faults or zeroed bytes differ. False if one is n/a.
bool differ(const Measured<Counts>& one, const Measured<Counts>& other);

/// Whether its counts do.
bool depends_on_order(const Benchmark& benchmark);

/// "7.88 MiB", of a mean.
std::string bytes_words(double bytes);

/// Puts the verdict of each benchmark, and of all, in place: counts by their difference, times by their pairs.
void judge(Report& report);

/// "1.71 times (1.65 to 1.77)", with the 95 % interval; "n/a" if nothing was timed.
std::string ratio_words(const TimeVerdict& time);

/// For people: the verdict in the first line, then a row for each benchmark, and what to do. At most 80 columns, but
/// for names and the line to paste.
std::string bench_text(const Report& report);

/// The median time of an iteration, "n/a" if there is none.
std::string time_text(const Observed& observed);

}  // namespace zerotax::bench
