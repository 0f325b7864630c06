#include "trace/function_result.h"

#include <algorithm>
#include <cmath>

#include "trace/function_profile.h"

namespace zerotax::trace {
namespace {

FunctionRow row_of(FunctionTimes times, const FunctionFigures& figures) {
  const bool any = figures.calls > 0;
  const bool varies = figures.calls > 1;
  const std::string none = "no call ended";
  const std::string why = any ? "one call has no variance" : none;
  const double variance = varies ? figures.durations.variance() : 0;
  const auto at = [&](double q) { return known_if(any, figures.duration.quantile(q), none); };
  return {std::move(times),
          known_if(any, figures.duration.min(), none),
          at(0.5),
          at(0.9),
          at(0.99),
          known_if(any, figures.duration.max(), none),
          known_if(any, any ? figures.durations.mean() : 0, none),
          known_if(varies, variance, why),
          known_if(varies, std::sqrt(variance), why),
          figures.left};
}

std::vector<PathRow> tree_of(const CtfTrace& trace, FunctionProfile& profile, unsigned depth) {
  std::map<std::size_t, std::size_t> rows;
  std::vector<PathRow> tree;
  for (const std::size_t index : profile.paths().ordered(depth)) {
    const CallPath& path = profile.paths().at(index);
    PathRow row{{trace.processes()[path.process].metadata.pid, profile.frame(path.process, path.function), path.calls,
                 path.total_ns, path.self_ns, path.unfinished},
                path.depth,
                {}};
    if (path.parent != CallPaths::kRoot) row.parent = rows.at(path.parent);
    rows[index] = tree.size();
    tree.push_back(std::move(row));
  }
  return tree;
}

}  // namespace

Functions functions_of(CtfTrace& trace, FunctionQuery& query) {
  FunctionProfile profile(trace, query.filter, query.tree);
  query.filter.check_all_matched();
  Functions functions{source_of(trace), query.filter, profile.exits_without_entry(), {}, {}};
  for (const auto& [key, figures] : profile.figures()) {
    functions.functions.push_back(
        row_of({trace.processes()[key.first].metadata.pid, profile.frame(key.first, key.second), figures.calls,
                figures.total_ns, figures.self_ns, figures.unfinished},
               figures));
  }
  std::stable_sort(functions.functions.begin(), functions.functions.end(),
                   [](const FunctionRow& one, const FunctionRow& other) { return one.self_ns > other.self_ns; });
  functions.tree = NotAvailable{"not requested (--tree)"};
  if (query.tree) functions.tree = tree_of(trace, profile, query.depth);
  return functions;
}

}  // namespace zerotax::trace
