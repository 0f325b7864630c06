#include <fmt/format.h>

#include <algorithm>

#include "base/one_line.h"
#include "base/units.h"
#include "trace/fields.h"
#include "trace/function_result.h"

namespace zerotax::trace {
namespace {

constexpr unsigned kDeepestIndent = 16;  ///< beyond it, the depth is a number

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

std::string functions_text(const Functions& functions) {
  if (functions.functions.empty()) {
    return functions.filters.empty()
               ? "this trace has no function calls: compile with -finstrument-functions, and run with zerotax trace "
                 "run --functions\n"
               : "the filters leave no function call\n";
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
