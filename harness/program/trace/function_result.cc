#include "trace/function_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/lines.h"
#include "base/units.h"
#include "trace/fields.h"
#include "trace/function_calls.h"

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

constexpr unsigned kDeepestIndent = 16;  ///< depth from which a row shows a number instead of more indentation

template <typename Row>
bool has_several_processes(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.pid != rows.front().pid; });
}

std::string table_text(const std::vector<FunctionRow>& rows) {
  std::string text = fmt::format("{:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  function\n", "calls", "total", "self",
                                 "std dev", "p50", "p90", "p99");
  const bool several = has_several_processes(rows);
  for (const FunctionRow& row : rows) {
    text += fmt::format("{:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  {}", row.calls, time_text(row.total_ns),
                        time_text(row.self_ns), time_text(row.stddev_ns), time_text(row.median_ns),
                        time_text(row.p90_ns), time_text(row.p99_ns), one_line(frame_label(row.frame, false)));
    text += several ? fmt::format(" [{}]\n", row.pid) : "\n";
  }
  return text;
}

std::string tree_text(const std::vector<PathRow>& rows) {
  std::string text = fmt::format("{:>9} {:>9} {:>10}  function\n", "total", "self", "calls");
  const bool several = has_several_processes(rows);
  pid_t process = 0;
  for (const PathRow& row : rows) {
    if (several && row.pid != process) text += fmt::format("process {}\n", row.pid);
    process = row.pid;
    const std::string indent(std::size_t{2} * std::min(row.depth, kDeepestIndent), ' ');
    text += fmt::format("{:>9} {:>9} {:>10}  {}{}{}\n", time_text(row.total_ns), time_text(row.self_ns), row.calls,
                        indent, row.depth > kDeepestIndent ? fmt::format("({} deep) ", row.depth) : "",
                        one_line(frame_label(row.frame, true)));
  }
  return text;
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

std::string functions_text(const Functions& functions) {
  if (functions.functions.empty()) {
    return functions.filters.empty()
               ? "this trace has no function calls: compile with -finstrument-functions, and run with zerotax trace "
                 "run --functions\n"
               : "the filters match no function call\n";
  }
  std::uint64_t left = 0;
  std::uint64_t unfinished = 0;
  for (const FunctionRow& row : functions.functions) {
    left += row.left_without_exit;
    unfinished += row.unfinished;
  }
  std::string text = functions.tree ? tree_text(*functions.tree) : table_text(functions.functions);
  if (left > 0)
    text += fmt::format("{} left by a jump, without an exit event\n", format_counted(left, "call was", "calls were"));
  if (unfinished > 0)
    text += fmt::format("{} had not ended when the trace ended\n", format_counted(unfinished, "call"));
  return text;
}

}  // namespace zerotax::trace
