#include "bench/document.h"

#include "base/error.h"
#include "bench/suite.h"
#include "bench/verdict.h"
#include "os/input_file.h"

namespace zerotax::bench {

ZEROTAX_FIELDS_WRITTEN(Counts, minor_faults, kernel_zeroed_bytes, refilled_bytes, returned_bytes, zeroed_bytes,
                       by_hand_bytes, calls)
ZEROTAX_FIELDS_WRITTEN(Observed, times_ns, counts)
ZEROTAX_FIELDS_WRITTEN(Cause, before, place)

namespace {

Json time_json(const TimeVerdict& time) {
  if (time.kind == TimeVerdict::Kind::kUnknown) return not_available("nothing was timed");
  const TimeRatio ratio = ratio_of(time);
  return {{"verdict", zerotax::word_of(time.kind)},
          {"ratio", ratio.median},
          {"low", ratio.low},
          {"high", ratio.high},
          {"p", time.adjusted_p}};
}

}  // namespace

void to_json(Json& json, const Benchmark& value) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, name, alone, in_order, shuffled, cause, sentence))
  json["verdict"] = word_of(value.verdict);
  json["time"] = time_json(value.time);
}

void to_json(Json& json, const Pin& value) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, name, env, line, benchmark, alone_ns, in_order_ns))
  json["time"] = time_json(value.time);
}

Json bench_json(const Report& value) {
  Json json;
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, schema, zerotax_version, started, command, environment,
                                           program, rounds, benchmarks, tried, sentence, next))
  json["state"] = value.complete ? "complete" : "interrupted";
  json["pin"] = value.pin ? Json(*value.pin)
                          : not_available(value.tried.empty() ? "nothing depends on the order"
                                                              : "no setting that was tried does it");
  return json;
}

std::vector<Reported> read_google_benchmark(const std::string& path) {
  try {
    const Json whole = read_json_file(path);
    std::vector<Reported> found;
    for (const Json& each : whole.at("benchmarks")) {
      if (each.value("run_type", "iteration") != "iteration" || each.value("error_occurred", false)) continue;
      const std::string unit = each.value("time_unit", "ns");
      const double factor = unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1;
      found.push_back({each.value("run_name", each.at("name").get<std::string>()), each.at("iterations").get<double>(),
                       each.at("real_time").get<double>() * factor});
    }
    return found;
  } catch (const Json::exception& problem) {
    throw UsageError(fmt::format("the program wrote no results of Google Benchmark: {}", problem.what()),
                     "give a program of Google Benchmark");
  }
}

}  // namespace zerotax::bench
