#include <fmt/format.h>

#include "compare/comparison.h"
#include "os/utc.h"

namespace zerotax::compare {
namespace {

/// The figures of one process as Google Benchmark has them. It wants a CPU time, which is not measured here: an
/// operation does not wait, so that its wall time is the nearest figure (the context says so).
Json repetition(const std::string& name, std::size_t index, std::size_t of, double ns) {
  return {
      {"name", name}, {"run_name", name}, {"run_type", "iteration"}, {"repetitions", of}, {"repetition_index", index},
      {"threads", 1}, {"iterations", 1},  {"real_time", ns},         {"cpu_time", ns},    {"time_unit", "ns"}};
}

/// Exact figures are counters, where every process had the same.
void add_counters(const CompareVerdict& verdict, bool after, Json& entry) {
  for (const WorkChange& change : verdict.work) {
    const Measured<std::int64_t>& figure = after ? change.after : change.before;
    if (figure) entry[change.name] = *figure;
  }
}

}  // namespace

Json google_benchmark_json(const CompareReport& report, bool after) {
  const ComparedThing& side = after ? report.after : report.before;
  Json json;
  json["context"] = {
      {"date", utc_now()},
      {"executable", "zerotax compare"},
      {"num_cpus", side.environment.at("cpus")},
      {"mhz_per_cpu", 0},
      {"cpu_scaling_enabled", false},
      {"caches", Json::array()},
      {"load_avg", side.environment.at("load_average")},
      {"library_build_type", "release"},
      {"zerotax_side", side_label(side)},
      {"zerotax_note", "each repetition is a process: the median of its operations; cpu_time is real_time"}};
  json["benchmarks"] = Json::array();
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const ComparedPoint& point = report.points[i];
    if (report.verdicts[i].kind == CompareKind::kInvalid) continue;
    // Runs of several allocators have each point several times.
    const std::string name = (report.measured ? "" : point.before.allocator + "/") + compared_key(point);
    std::vector<double> times;
    for (const CostPair& pair : point.pairs) times.push_back(after ? pair.b_ns : pair.a_ns);
    if (times.empty()) {
      if (const auto ns = side_ns(point, after)) times.push_back(*ns);
    }
    for (std::size_t k = 0; k < times.size(); ++k) {
      Json& entry = json["benchmarks"].emplace_back(repetition(name, k, times.size(), times[k]));
      add_counters(report.verdicts[i], after, entry);
    }
  }
  return json;
}

}  // namespace zerotax::compare
