#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "observe/symbols.h"
#include "trace/fields.h"
#include "trace/function_document.h"

namespace zerotax::trace {
namespace {

constexpr unsigned kDeepestIndent = 16;  ///< beyond it, the depth is a number

bool has_several_processes(const Json& rows) {
  std::set<int> processes;
  for (const Json& row : rows) processes.insert(row.at("pid").get<int>());
  return processes.size() > 1;
}

std::string table_text(const Json& rows) {
  std::string text = fmt::format("{:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  function\n", "calls", "total", "self",
                                 "std dev", "p50", "p90", "p99");
  const bool several = has_several_processes(rows);
  for (const Json& row : rows) {
    text += fmt::format("{:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  {}", row.at("calls").get<std::uint64_t>(),
                        time_text(row.at("total_ns")), time_text(row.at("self_ns")), time_text(row.at("stddev_ns")),
                        time_text(row.at("median_ns")), time_text(row.at("p90_ns")), time_text(row.at("p99_ns")),
                        frame_label(row.at("frame").get<NamedFrame>(), false));
    text += several ? fmt::format(" [{}]\n", row.at("pid").get<int>()) : "\n";
  }
  return text;
}

std::string tree_text(const Json& rows) {
  std::string text = fmt::format("{:>9} {:>9} {:>10}  function\n", "total", "self", "calls");
  const bool several = has_several_processes(rows);
  int process = 0;
  for (const Json& row : rows) {
    const int pid = row.at("pid");
    if (several && pid != process) text += fmt::format("process {}\n", pid);
    process = pid;
    const unsigned depth = row.at("depth");
    const std::string indent(std::size_t{2} * std::min(depth, kDeepestIndent), ' ');
    text += fmt::format("{:>9} {:>9} {:>10}  {}{}{}\n", time_text(row.at("total_ns")), time_text(row.at("self_ns")),
                        row.at("calls").get<std::uint64_t>(), indent,
                        depth > kDeepestIndent ? fmt::format("({} deep) ", depth) : "",
                        frame_label(row.at("frame").get<NamedFrame>(), true));
  }
  return text;
}

std::string nothing_text(const Json& filters) {
  const bool filtered = std::any_of(filters.begin(), filters.end(), [](const Json& names) { return !names.empty(); });
  return filtered
             ? "the filters leave no function call\n"
             : "this trace has no function calls: compile with -finstrument-functions, and run with zerotax trace run "
               "--functions\n";
}

}  // namespace

std::string functions_text(const Json& json) {
  if (json.at("functions").empty()) return nothing_text(json.at("filters"));
  std::uint64_t left = 0;
  std::uint64_t unfinished = 0;
  for (const Json& row : json.at("functions")) {
    left += row.at("left_without_exit").get<std::uint64_t>();
    unfinished += row.at("unfinished").get<std::uint64_t>();
  }
  std::string text = json.at("tree").is_array() ? tree_text(json.at("tree")) : table_text(json.at("functions"));
  if (left > 0)
    text += fmt::format("{} left by a jump, without an exit event\n", format_counted(left, "call was", "calls were"));
  if (unfinished > 0)
    text += fmt::format("{} had not ended when the trace ended\n", format_counted(unfinished, "call"));
  return text;
}

}  // namespace zerotax::trace
