#include "trace/intervals.h"

#include <algorithm>
#include <numeric>

#include "base/statistics.h"

namespace zerotax::trace {

Json distribution_json(const std::vector<double>& ns) {
  Json json;
  json["count"] = ns.size();
  constexpr std::pair<const char*, double> kQuantiles[] = {{"min_ns", 0},    {"p25_ns", 0.25}, {"median_ns", 0.5},
                                                           {"p75_ns", 0.75}, {"p95_ns", 0.95}, {"p99_ns", 0.99},
                                                           {"max_ns", 1}};
  if (ns.empty()) {
    json["total_ns"] = not_available("there are none");
    for (const auto& [key, q] : kQuantiles) json[key] = not_available("there are none");
    return json;
  }
  json["total_ns"] = std::accumulate(ns.begin(), ns.end(), 0.0);
  for (const auto& [key, q] : kQuantiles) json[key] = quantile(ns, q);
  return json;
}

void TraceIntervals::add(const CtfEvent& event) {
  const bool begins = event.type->name == from_;
  const bool ends = event.type->name == to_;
  if (!begins && !ends) return;
  Thread& thread = threads_[{event.pid, event.tid}];
  if (ends && thread.pending) {
    thread.ns.push_back(static_cast<double>(event.monotonic_ns - thread.since));
    thread.pending = false;
  } else if (ends && !begins) {
    ++thread.without_from;
  }
  if (begins) {
    if (thread.pending) ++thread.without_to;
    thread.pending = true;
    thread.since = event.monotonic_ns;
  }
}

bool TraceIntervals::empty() const {
  return std::all_of(threads_.begin(), threads_.end(), [](const auto& each) { return each.second.ns.empty(); });
}

Json TraceIntervals::json() const {
  Json json;
  json["from"] = from_;
  json["to"] = to_;
  std::vector<double> all;
  Json threads = Json::array();
  for (const auto& [who, thread] : threads_) {
    all.insert(all.end(), thread.ns.begin(), thread.ns.end());
    Json row;
    row["pid"] = who.first;
    row["tid"] = who.second;
    // The last one of a chain of the same type begins nothing, and lacks nothing.
    row["from_without_to"] = thread.without_to + (thread.pending && from_ != to_ ? 1 : 0);
    row["to_without_from"] = thread.without_from;
    row["time"] = distribution_json(thread.ns);
    threads.push_back(std::move(row));
  }
  json["all"] = distribution_json(all);
  json["threads"] = std::move(threads);
  return json;
}

}  // namespace zerotax::trace
