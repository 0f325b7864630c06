#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/fields.h"
#include "base/statistics.h"
#include "bench/document.h"
#include "compare/bench.h"
#include "compare/run_file.h"
#include "files/document.h"

namespace zerotax::compare {

ZEROTAX_FIELDS_READ(BenchEntry, name, alone, in_order)
ZEROTAX_FIELDS_READ(BenchFile, program, environment, benchmarks)

namespace {

constexpr const char* kOfBench = "give two files that zerotax bench --json wrote";

Json side_json(const bench::Observed& side) {
  return {{"ns", side.times_ns.empty() ? not_available("not timed") : Json(median(side.times_ns))},
          {"counts", side.counts}};
}

Json file_json(const BenchFile& file) {
  return {{"file", file.path}, {"program", file.program}, {"environment", file.environment}};
}

Json benchmark_json(const ComparedBenchmark& each) {
  Json json{{"name", each.name},
            {"order", each.in_order ? "in order" : "alone"},
            {"verdict", exchange::word_of(each.kind)},
            {"reason", each.reason},
            {"old", side_json(each.before)},
            {"new", side_json(each.after)},
            {"changes", Json::array()}};
  for (const BenchChange& change : each.changes) {
    json["changes"].push_back(
        {{"count", change.count->key}, {"old", change.before}, {"new", change.after}, {"line", words_of(change)}});
  }
  return json;
}

}  // namespace

bool is_bench_file(const std::string& path) {
  // Opening a pipe would wait for a writer.
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 64> start{};
  file.read(start.data(), start.size());
  return std::string_view(start.data(), static_cast<std::size_t>(file.gcount())).find("\"zerotax.bench/1\"") !=
         std::string_view::npos;
}

BenchFile read_bench_file(const std::string& path) {
  auto file = read_document(path, "bench", kOfBench).get<BenchFile>();
  file.path = path;
  return file;
}

Json bench_compare_json(const BenchComparison& comparison) {
  Json json{{"schema", "zerotax.bench_compare/1"}, {"zerotax_version", ZEROTAX_VERSION}};
  json["verdict"] = exchange::word_of(comparison.kind);
  json["sentence"] = comparison.sentence;
  json["notes"] = comparison.notes;
  json["old"] = file_json(comparison.before);
  json["new"] = file_json(comparison.after);
  json["benchmarks"] = Json::array();
  for (const ComparedBenchmark& each : comparison.benchmarks) json["benchmarks"].push_back(benchmark_json(each));
  return json;
}

}  // namespace zerotax::compare
