#include "trace/function_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "trace/fields.h"
#include "trace/function_calls.h"
#include "trace/function_names.h"

namespace zerotax::trace {
namespace {

Json row_json(const FunctionFigures& figures) {
  Json row;
  row["calls"] = figures.calls;
  row["total_ns"] = figures.total_ns;
  row["self_ns"] = figures.self_ns;
  const bool none = figures.calls == 0;
  row["min_ns"] = none ? not_available("no call ended") : Json(figures.duration.min());
  row["median_ns"] = none ? not_available("no call ended") : Json(figures.duration.quantile(0.5));
  row["max_ns"] = none ? not_available("no call ended") : Json(figures.duration.max());
  row["left_without_exit"] = figures.left;
  row["unfinished"] = figures.unfinished;
  return row;
}

}  // namespace

Json functions_json(CtfTrace& trace, const std::string& folder) {
  FunctionCalls calls;
  FunctionNames names;
  std::map<std::size_t, std::uint64_t> modules;
  trace.for_each([&](const CtfEvent& event) {
    names.add(trace.processes()[event.stream->process].folder, event);
    calls.add(event);
  });
  calls.finish();
  Json json;
  json["schema"] = "zerotax.functions/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["folder"] = folder;
  json["discarded"] = trace.discarded();
  json["problems"] = trace.problems();
  json["exits_without_entry"] = calls.exits_without_entry();
  std::vector<Json> rows;
  for (const auto& [key, figures] : calls.figures()) {
    Json row;
    row["pid"] = trace.processes()[key.first].pid;
    row["frame"] = names.frame(trace.processes()[key.first].folder, key.second);
    row.update(row_json(figures));
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Json& one, const Json& other) {
    return one.at("self_ns").get<std::uint64_t>() > other.at("self_ns").get<std::uint64_t>();
  });
  json["functions"] = rows;
  return json;
}

std::string functions_text(const Json& json) {
  if (json.at("functions").empty()) {
    return "this trace has no function calls: compile with -finstrument-functions, and run with zerotax trace run "
           "--functions\n";
  }
  std::string text = fmt::format("{:>10} {:>11} {:>11} {:>10} {:>10} {:>10} {:>8}  function\n", "calls", "total",
                                 "self", "min", "median", "max", "pid");
  std::uint64_t left = 0;
  std::uint64_t unfinished = 0;
  for (const Json& row : json.at("functions")) {
    text += fmt::format("{:>10} {:>11} {:>11} {:>10} {:>10} {:>10} {:>8}  {}\n", row.at("calls").get<std::uint64_t>(),
                        time_text(row.at("total_ns")), time_text(row.at("self_ns")), time_text(row.at("min_ns")),
                        time_text(row.at("median_ns")), time_text(row.at("max_ns")), row.at("pid").get<int>(),
                        frame_label(row.at("frame"), false));
    left += row.at("left_without_exit").get<std::uint64_t>();
    unfinished += row.at("unfinished").get<std::uint64_t>();
  }
  if (left > 0)
    text += fmt::format("{} left by a jump, without an exit event\n", format_counted(left, "call was", "calls were"));
  if (unfinished > 0)
    text += fmt::format("{} had not ended when the trace ended\n", format_counted(unfinished, "call"));
  return text;
}

}  // namespace zerotax::trace
