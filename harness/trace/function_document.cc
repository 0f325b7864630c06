#include "trace/function_document.h"

#include <algorithm>
#include <cmath>

#include "trace/function_profile.h"

namespace zerotax::trace {
namespace {

constexpr const char* kNoCall = "no call ended";

Json figures_json(const FunctionFigures& figures) {
  Json row;
  row["calls"] = figures.calls;
  row["total_ns"] = figures.total_ns;
  row["self_ns"] = figures.self_ns;
  const bool none = figures.calls == 0;
  row["min_ns"] = none ? not_available(kNoCall) : Json(figures.duration.min());
  row["median_ns"] = none ? not_available(kNoCall) : Json(figures.duration.quantile(0.5));
  row["p90_ns"] = none ? not_available(kNoCall) : Json(figures.duration.quantile(0.9));
  row["p99_ns"] = none ? not_available(kNoCall) : Json(figures.duration.quantile(0.99));
  row["max_ns"] = none ? not_available(kNoCall) : Json(figures.duration.max());
  row["mean_ns"] = none ? not_available(kNoCall) : Json(figures.durations.mean());
  const char* why = none ? kNoCall : "one call has no variance";
  const bool varies = figures.calls > 1;
  row["variance_ns2"] = varies ? Json(figures.durations.variance()) : not_available(why);
  row["stddev_ns"] = varies ? Json(std::sqrt(figures.durations.variance())) : not_available(why);
  row["left_without_exit"] = figures.left;
  row["unfinished"] = figures.unfinished;
  return row;
}

Json tree_json(const CtfTrace& trace, FunctionProfile& profile, unsigned depth) {
  std::map<std::size_t, std::size_t> rows;
  Json tree = Json::array();
  for (const std::size_t index : profile.paths().ordered(depth)) {
    const CallPath& path = profile.paths().at(index);
    Json row;
    row["pid"] = trace.processes()[path.process].metadata.pid;
    row["depth"] = path.depth;
    row["parent"] = path.parent == CallPaths::kRoot ? Json(nullptr) : Json(rows.at(path.parent));
    row["frame"] = profile.frame(path.process, path.function);
    row["calls"] = path.calls;
    row["total_ns"] = path.total_ns;
    row["self_ns"] = path.self_ns;
    row["unfinished"] = path.unfinished;
    rows[index] = tree.size();
    tree.push_back(std::move(row));
  }
  return tree;
}

}  // namespace

Json functions_json(CtfTrace& trace, const std::string& folder, FunctionQuery& query) {
  FunctionProfile profile(trace, query.filter, query.tree);
  query.filter.check_all_matched();
  Json json;
  json["schema"] = "zerotax.functions/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["folder"] = folder;
  json["filters"] = query.filter.json();
  json["discarded"] = trace.discarded();
  json["problems"] = trace.problems();
  json["exits_without_entry"] = profile.exits_without_entry();
  std::vector<Json> rows;
  for (const auto& [key, figures] : profile.figures()) {
    Json row;
    row["pid"] = trace.processes()[key.first].metadata.pid;
    row["frame"] = profile.frame(key.first, key.second);
    row.update(figures_json(figures));
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Json& one, const Json& other) {
    return one.at("self_ns").get<std::uint64_t>() > other.at("self_ns").get<std::uint64_t>();
  });
  json["functions"] = rows;
  json["tree"] = query.tree ? tree_json(trace, profile, query.depth) : not_available("not requested (--tree)");
  return json;
}

}  // namespace zerotax::trace
