#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/measured.h"
#include "base/table.h"
#include "compare/options.h"
#include "exchange/outcome.h"

namespace zerotax::compare {

// What `zerotax bench --json` wrote, as far as it is compared: the fields are keys of results/schema/bench.schema.json.

struct BenchCounts {
  double minor_faults = 0;
  double kernel_zeroed_bytes = 0;
  double refilled_bytes = 0;
  double returned_bytes = 0;
  double zeroed_bytes = 0;
  double by_hand_bytes = 0;
  double calls = 0;
};

/// A count of one iteration.
struct BenchCount {
  const char* key;
  const char* name;  ///< for people
  double BenchCounts::*of;
  Unit unit;
  bool costs;  ///< more is worse; else it only describes
};
inline constexpr BenchCount kBenchCounts[] = {
    {"minor_faults", "page faults", &BenchCounts::minor_faults, Unit::kNumber, true},
    {"kernel_zeroed_bytes", "kernel-zeroed bytes", &BenchCounts::kernel_zeroed_bytes, Unit::kBytes, true},
    {"refilled_bytes", "refilled bytes", &BenchCounts::refilled_bytes, Unit::kBytes, true},
    {"returned_bytes", "returned bytes", &BenchCounts::returned_bytes, Unit::kBytes, true},
    {"zeroed_bytes", "zeroed bytes", &BenchCounts::zeroed_bytes, Unit::kBytes, true},
    {"by_hand_bytes", "bytes zeroed by hand", &BenchCounts::by_hand_bytes, Unit::kBytes, true},
    {"calls", "calls of the allocator", &BenchCounts::calls, Unit::kNumber, false},
};

struct BenchObserved {
  std::vector<double> times_ns;
  Measured<BenchCounts> counts{NotAvailable{"not in this file"}};
};

struct BenchEntry {
  std::string name;
  BenchObserved alone;
  BenchObserved in_order;
};

struct BenchFile {
  std::string path;
  std::vector<std::string> program;
  Json environment;
  std::vector<BenchEntry> benchmarks;
};

/// Whether a file begins as a document of bench does.
bool is_bench_file(const std::string& path);
/// Throws UsageError for a file of another schema, or a damaged one.
BenchFile read_bench_file(const std::string& path);

/// A count that differs: by a fault, a call or 4 KiB, and a tenth of the more.
struct BenchChange {
  const BenchCount* count;
  double before;
  double after;
};

/// A benchmark in one order, in both files.
struct ComparedBenchmark {
  std::string name;
  bool in_order = false;  ///< after those before it; else alone
  BenchObserved before;
  BenchObserved after;
  std::vector<BenchChange> changes;
  /// Worse or better where all that differs and costs is; changed if both are among it; skipped if not compared.
  exchange::OutcomeKind kind{};
  std::string reason;  ///< why it is not compared
};

struct BenchComparison {
  BenchFile before;
  BenchFile after;
  std::vector<ComparedBenchmark> benchmarks;  ///< in OLD's order, alone first; those of NEW alone last
  exchange::OutcomeKind kind{};
  std::string sentence;
  std::vector<std::string> notes;
};

/// Compares the counts of one iteration of each benchmark of both. Throws UsageError if an environment is damaged.
BenchComparison compare_bench_files(BenchFile before, BenchFile after);

/// "page faults 0 → 2,048".
std::string words_of(const BenchChange& change);
/// "BM_Decode, alone".
std::string label_of(const ComparedBenchmark& benchmark);

/// For people: the verdict, a row for each benchmark in each order, and what differs. At most 80 columns but for names.
std::string bench_text(const BenchComparison& comparison);
exchange::OutcomeList bench_outcomes(const BenchComparison& comparison);
/// The object of "zerotax.bench_compare/1" (results/schema/bench_compare.schema.json).
Json bench_compare_json(const BenchComparison& comparison);

/// `zerotax compare` of two files of bench. Throws as the command.
ExitStatus compare_bench(const Options& options);

}  // namespace zerotax::compare
