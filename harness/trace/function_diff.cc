#include "trace/function_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/names.h"
#include "base/units.h"
#include "observe/symbols.h"
#include "trace/fields.h"
#include "trace/function_profile.h"
#include "trace/function_verdict.h"

namespace zerotax::trace {
namespace {

/// Name and file name: addresses differ from run to run, and files may have been moved.
using Name = std::pair<std::string, std::string>;
using Functions = std::map<Name, FunctionSide>;

Functions read_side(const DiffSide& side, FunctionFilter& filter) {
  FunctionProfile profile(side.trace, filter, false);
  Functions functions;
  for (const auto& [key, figures] : profile.figures()) {
    const NamedFrame& frame = profile.frame(key.first, key.second);
    FunctionSide& function = functions[{frame_label(frame, true), file_name(frame.module.value_or(""))}];
    function.total_ns += figures.total_ns;
    function.self.add(figures.self);
    function.unfinished += figures.unfinished;
  }
  return functions;
}

Json side_json(const FunctionSide& side) {
  if (!side.is_there()) return not_available("not called");
  Json json;
  json["calls"] = side.self.count();
  json["total_ns"] = side.total_ns;
  json["self_ns"] = side.self.sum();
  json["self_mean_ns"] = side.self.count() == 0 ? not_available("no call ended") : Json(side.self.mean());
  json["self_stddev_ns"] =
      side.self.count() < 2 ? not_available("fewer than two calls ended") : Json(std::sqrt(side.self.variance()));
  json["unfinished"] = side.unfinished;
  return json;
}

Json diff_row_json(const Name& name, const FunctionSide& before, const FunctionSide& after, bool complete) {
  const FunctionVerdict verdict = judge_function(before, after, complete);
  Json row;
  row["function"] = name.first;
  row["object"] = name.second.empty() ? not_available("the address lies in no loaded file") : Json(name.second);
  row["before"] = side_json(before);
  row["after"] = side_json(after);
  row["calls_change"] = static_cast<std::int64_t>(after.self.count()) - static_cast<std::int64_t>(before.self.count());
  row["self_change_ns"] = verdict.change_ns;
  row["noise_ns"] = verdict.noise_ns;
  row["verdict"] = verdict.name;
  row["why"] = verdict.why.empty() ? Json(nullptr) : Json(verdict.why);
  return row;
}

Json trace_of(const DiffSide& side) {
  Json json;
  json["folder"] = side.folder;
  json["discarded"] = side.trace.discarded();
  json["problems"] = side.trace.problems();
  return json;
}

bool is_complete(const DiffSide& side) { return side.trace.discarded() == 0 && side.trace.problems().empty(); }

std::string signed_time(std::int64_t ns) {
  return fmt::format("{}{}", ns < 0 ? "-" : "+", format_ns(static_cast<double>(std::abs(ns))));
}

}  // namespace

Json function_diff_json(const DiffSide& before, const DiffSide& after, FunctionFilter& filter) {
  const Functions old = read_side(before, filter);
  const Functions now = read_side(after, filter);
  filter.check_all_matched();
  const bool complete = is_complete(before) && is_complete(after);
  Functions all = old;
  all.insert(now.begin(), now.end());
  std::vector<Json> rows;
  bool more = false;
  bool less = false;
  for (const auto& [name, unused] : all) {
    const auto first = old.find(name);
    const auto second = now.find(name);
    rows.push_back(diff_row_json(name, first == old.end() ? FunctionSide{} : first->second,
                                 second == now.end() ? FunctionSide{} : second->second, complete));
    const int direction = direction_of(rows.back().at("verdict"));
    more = more || direction > 0;
    less = less || direction < 0;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Json& one, const Json& other) {
    return std::abs(one.at("self_change_ns").get<std::int64_t>()) >
           std::abs(other.at("self_change_ns").get<std::int64_t>());
  });
  Json json;
  json["schema"] = "zerotax.functions_diff/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["before"] = trace_of(before);
  json["after"] = trace_of(after);
  json["filters"] = filter.json();
  json["verdict"] = more ? "more" : less ? "less" : "same";
  json["functions"] = rows;
  return json;
}

std::string function_diff_text(const Json& json) {
  std::string text = fmt::format("{:>19} {:>19}\n{:>9} {:>9} {:>9} {:>9} {:>9}  {:<11}  function\n", "calls", "self",
                                 "before", "after", "before", "after", "change", "verdict");
  std::uint64_t same = 0;
  for (const Json& row : json.at("functions")) {
    if (row.at("verdict") == "same") {
      ++same;
      continue;
    }
    const auto calls = [&](const char* side) {
      return is_not_available(row.at(side)) ? "-" : format_count(row.at(side).at("calls"));
    };
    const auto self = [&](const char* side) {
      return is_not_available(row.at(side)) ? "-" : time_text(row.at(side).at("self_ns"));
    };
    text += fmt::format("{:>9} {:>9} {:>9} {:>9} {:>9}  {:<11}  {}\n", calls("before"), calls("after"), self("before"),
                        self("after"), signed_time(row.at("self_change_ns")), row.at("verdict").get<std::string>(),
                        row.at("function").get<std::string>());
  }
  if (json.at("functions").empty()) return "neither trace has such function calls: record them with --functions\n";
  if (same == json.at("functions").size()) text.clear();
  if (same > 0) text += fmt::format("{} the same\n", format_counted(same, "function is", "functions are"));
  return text;
}

}  // namespace zerotax::trace
