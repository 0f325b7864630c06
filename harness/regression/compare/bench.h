#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "bench/result.h"
#include "compare/options.h"
#include "exchange/outcome.h"

namespace zerotax::compare {

// What `zerotax bench --json` wrote, as far as it is compared: the fields are keys of results/schema/bench.schema.json.

struct BenchEntry {
  std::string name;
  bench::Observed alone;
  bench::Observed in_order;
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

/// A count that differs, as bench::differs decides.
struct BenchChange {
  const bench::CountRow* count;
  double before;
  double after;
};

/// A benchmark in one order, in both files.
struct ComparedBenchmark {
  std::string name;
  bool in_order = false;  ///< after those before it; else alone
  bench::Observed before{{}, NotAvailable{"not in this file"}};
  bench::Observed after{{}, NotAvailable{"not in this file"}};
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

/// Compares the counts per iteration of each benchmark that both files have.
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
