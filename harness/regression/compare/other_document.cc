#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/fields.h"
#include "base/statistics.h"
#include "baseline/document.h"
#include "bench/result.h"
#include "compare/along.h"
#include "compare/bench.h"
#include "compare/programs.h"
#include "files/document.h"

// The documents of comparisons other than of points: along an axis, of files of bench, and of commands.

namespace zerotax::compare {

namespace {

Json place_json(const Along& along, const PairedPlace& place) {
  Json json;
  json["size_bytes"] = place.size_bytes;
  json["touch"] = place.touch;
  json["pass"] = place.pass;
  json["left_out"] = place.left_out.empty() ? Json(nullptr) : Json(place.left_out);
  json["pairs"] = Json::array();
  for (const CostPair& pair : place.pairs) {
    json["pairs"].push_back({{"a_ns", pair.a_ns}, {"b_ns", pair.b_ns}, {"first", pair.a_first ? "a" : "b"}});
  }
  const PointVerdict* verdict = along.verdict_at(place);
  if (verdict == nullptr) {
    json["ratio"] = not_available(place.left_out.empty() ? "interrupted: fewer than three pairs" : place.left_out);
    json["clear"] = false;
    return json;
  }
  json["ratio"] = {{"median", std::exp(verdict->log_ratio)},
                   {"low", std::exp(verdict->interval.low)},
                   {"high", std::exp(verdict->interval.high)}};
  json["clear"] = verdict->clear;
  return json;
}

Json cheaper_json(const Along& along, int sign) { return sign == 0 ? Json(nullptr) : Json(along.cheaper(sign)); }

Json crossings_json(const Along& along) {
  const Crossover& found = along.found;
  Json json;
  json["crossings"] = Json::array();
  for (std::size_t k = 0; k < found.crossings.size(); ++k) {
    const Crossing& crossing = found.crossings[k];
    json["crossings"].push_back({{"at", crossing.at},
                                 {"low", crossing.interval.low},
                                 {"high", crossing.interval.high},
                                 {"bracket",
                                  {{"from", crossing.bracket.low},
                                   {"to", crossing.bracket.high},
                                   {"ratio_from", std::exp(crossing.log_ratio_before)},
                                   {"ratio_to", std::exp(crossing.log_ratio_after)}}},
                                 {"cheaper_below", cheaper_json(along, found.stretches[k].sign)},
                                 {"cheaper_above", cheaper_json(along, found.stretches[k + 1].sign)},
                                 {"share", crossing.share},
                                 {"certain", crossing.certain},
                                 {"jump", crossing.jump}});
  }
  json["stretches"] = Json::array();
  for (const Stretch& stretch : found.stretches) {
    json["stretches"].push_back({{"from", stretch.from},
                                 {"to", stretch.to},
                                 {"cheaper", cheaper_json(along, stretch.sign)},
                                 {"clear", stretch.clear},
                                 {"ratio_from", std::exp(stretch.log_ratio_from)},
                                 {"ratio_to", std::exp(stretch.log_ratio_to)},
                                 {"ratio_min", std::exp(stretch.log_ratios.low)},
                                 {"ratio_max", std::exp(stretch.log_ratios.high)}});
  }
  json["unproven"] = Json::array();
  for (const Dip& dip : found.dips) {
    json["unproven"].push_back({{"from", dip.from},
                                {"to", dip.to},
                                {"cheaper", cheaper_json(along, dip.log_ratio < 0 ? -1 : 1)},
                                {"ratio", std::exp(dip.log_ratio)},
                                {"share", dip.share}});
  }
  return json;
}

}  // namespace

Json along_json(const Along& along, const Json& environment) {
  const CrossoverMethod method;
  Json json;
  json["schema"] = "zerotax.crossover/1";
  json["state"] = along.whole ? "complete" : "interrupted";
  json["environment"] = environment;
  json["a"] = allocator_json(along.setup.a);
  json["b"] = allocator_json(along.setup.b);
  json["by"] = along.by_touch ? "touch" : "size";
  json["size_bytes"] = along.by_touch ? Json(along.size_bytes) : Json(nullptr);
  json["touch"] = along.by_touch ? Json(nullptr) : Json(along.touch);
  json["thread"] = along.setup.thread;
  json["cost"] = along.setup.cost == Cost::kCalloc ? "calloc" : "total";
  json["pairs_per_point"] = along.setup.pairs;
  json["resamples"] = method.resamples;
  json["seed"] = method.seed;
  json["level"] = method.level;
  json["verdict"] = !along.has_verdict()            ? "not measured"
                    : along.found.crossings.empty() ? "none in range"
                                                    : "crossings";
  json.update(crossings_json(along));
  json["points"] = Json::array();
  for (const PairedPlace& place : along.places) json["points"].push_back(place_json(along, place));
  return json;
}

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

ZEROTAX_FIELDS_WRITTEN(TimedPair, before_cpu_ns, after_cpu_ns, before_wall_ns, after_wall_ns)

void to_json(Json& json, const ComparedTime& value) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, name, before_ns, after_ns))
  const TimeVerdict& verdict = value.verdict;
  json["verdict"] = word_of(verdict.kind);
  const TimeRatio ratio = ratio_of(verdict);
  json["ratio"] = {{"median", ratio.median}, {"low", ratio.low}, {"high", ratio.high}};
  json["p"] = verdict.adjusted_p;
  json["line"] = words_of(value);
}

Json compare_json(const ProgramComparison& value) {
  Json json{{"schema", "zerotax.program_compare/1"}, {"zerotax_version", ZEROTAX_VERSION}};
  json["state"] = value.complete ? "complete" : "interrupted";
  json["verdict"] = value.counts.verdict;
  if (!value.counts.advice.empty()) json["advice"] = value.counts.advice;
  json["changes"] = value.counts.changes;
  json["sites"] = value.counts.sites;
  json["not_compared"] = value.counts.not_compared;
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, sentence, passed, before, after, times, pairs))
  return json;
}

}  // namespace zerotax::compare
