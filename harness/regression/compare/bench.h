#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/json.h"
#include "bench/result.h"
#include "compare/options.h"
#include "exchange/outcome.h"

namespace zerotax::compare {

struct BenchFile {
  RESULT("file", "A file that is compared.");
  FIELD_AS("file", std::string, path, "Path of the file.");
  FIELD(std::vector<std::string>, program, "The benchmark program and its arguments.", kMayBeEmpty);
  ENVIRONMENT_FIELD();
  Json environment;
  std::vector<bench::Benchmark> benchmarks;  ///< absent from the document
};

/// Returns whether a file begins as a document with this schema does, such as "zerotax.bench/1".
bool is_document(const std::string& path, const std::string& schema);
/// Refuses options that only concern points or new measurements. `command` wrote the files: "bench" or "cow".
void refuse_other_options(const Options& options, const char* command);
/// Reads a file. Throws UsageError if the file has another schema or is damaged.
BenchFile read_bench_file(const std::string& path);

struct BenchChange {
  RESULT("count change", "A count that differs by a fault, a call or 4 KiB, and also by a tenth.");
  FIELD(std::string, count, "The key of the count in bench.schema.json.",
        one_of("minor_faults|kernel_zeroed_bytes|refilled_bytes|returned_bytes|zeroed_bytes|by_hand_bytes|calls"));
  FIELD_AS("old", double, before, "The count per iteration in OLD.", kAnySign);
  FIELD_AS("new", double, after, "The count per iteration in NEW.", kAnySign);
  FIELD(std::string, line, "The change in words: 'page faults 0 → 2,048'.");
};

struct BenchSide {
  RESULT("benchmark side", "Time and counts of one iteration, in one of the two files.");
  MEMBER(ns, "Median time of one iteration, in nanoseconds.");
  Measured<double> ns{NotAvailable{"not timed"}};
  MEMBER(counts, "The counts, with the same keys as in a document of bench.");
  Measured<bench::Counts> counts{NotAvailable{"not in this file"}};
};

/// The words for verdicts on benchmarks.
inline constexpr Limit kBenchVerdicts = one_of("same|better|worse|changed|skipped");

struct ComparedBenchmark {
  RESULT("compared benchmark", "A benchmark in one order, in both files.");
  FIELD(std::string, name, "Name of the benchmark.");
  FIELD(std::string, order, "alone: in a separate process; in order: after the benchmarks before it.",
        one_of("alone|in order"));
  FIELD_AS("verdict", exchange::OutcomeKind, kind,
           "The verdict on the counts. worse: more of some costs and less of none. changed: more of some costs "
           "and less of others, or only another number of calls. skipped: not compared.",
           kBenchVerdicts);
  FIELD(std::string, reason, "The reason why the benchmark is skipped; otherwise empty.", kMayBeEmpty);
  FIELD_AS("old", BenchSide, before, "Time and counts of the benchmark in OLD.");
  FIELD_AS("new", BenchSide, after, "Time and counts of the benchmark in NEW.");
  FIELD(std::vector<BenchChange>, changes, "Counts that differ between OLD and NEW.");
};

struct BenchComparison {
  RESULT("zerotax comparison of two files of bench",
         "Benchmarks whose counts differ, as written by `zerotax compare --json FILE OLD.json NEW.json` for two "
         "files from `zerotax bench --json`.");
  static constexpr const char* kDocument = "zerotax.bench_compare/1";
  FIELD_AS("verdict", exchange::OutcomeKind, kind,
           "The verdict: worse if any benchmark is worse; otherwise changed, better or same. skipped if no benchmark "
           "was counted in both files.",
           kBenchVerdicts);
  FIELD(std::string, sentence, "The verdict in one sentence.");
  FIELD(std::vector<std::string>, notes, "Notes that qualify the verdict, a sentence each.");
  FIELD_AS("old", BenchFile, before, "The earlier file, OLD.");
  FIELD_AS("new", BenchFile, after, "The file that is compared with OLD.");
  FIELD(std::vector<ComparedBenchmark>, benchmarks,
        "Each benchmark alone and in order, in the order of OLD. Benchmarks that exist only in NEW come last.");
};

/// Compares the counts per iteration of each benchmark that both files contain.
BenchComparison compare_bench_files(BenchFile before, BenchFile after);

/// Returns a label such as "BM_Decode, alone".
std::string label_of(const ComparedBenchmark& benchmark);

/// Returns the ratio of the median times, NEW to OLD.
std::string ratio_of_medians(const ComparedBenchmark& benchmark);
/// Returns the answer on one screen: the benchmarks that differ, the largest change first.
Answer bench_answer(const BenchComparison& comparison);

/// Returns the text: the verdict, a row for each benchmark in each order, and the differences. The text has at most 80
/// columns, except for names.
std::string bench_text(const BenchComparison& comparison);
exchange::OutcomeList bench_outcomes(const BenchComparison& comparison);
/// Runs `zerotax compare` on two files of bench. Throws the same errors as the command.
ExitStatus compare_bench(const Options& options);

}  // namespace zerotax::compare
