#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/units.h"
#include "findings/summary.h"
#include "findings/summary_words.h"
#include "judge/document.h"
#include "os/page.h"

namespace zerotax::findings {

NLOHMANN_JSON_SERIALIZE_ENUM(SummaryPart, {{SummaryPart::kWarning, "warning"},
                                           {SummaryPart::kHeadline, "headline"},
                                           {SummaryPart::kBroken, "broken"},
                                           {SummaryPart::kLead, "lead"},
                                           {SummaryPart::kForWhom, "for_whom"},
                                           {SummaryPart::kEach, "each"},
                                           {SummaryPart::kCoverage, "coverage"}})

void to_json(Json& json, const PageLink& link) {
  if (std::string_view(link.figure) == kFailures) {
    json["section"] = link.figure;
    return;
  }
  json = {{"figure", link.figure}, {"case", link.case_name}, {"touch", link.touch}, {"thread", link.thread}};
  write_field(json, "size_bytes", link.size_bytes);
  if (*link.column != '\0') json["columns"] = {{fmt::format("{}.f", link.figure), link.column}};
}

ZEROTAX_FIELDS_WRITTEN(SummarySentence, part, subject, text, link, command, allocator)
ZEROTAX_FIELDS_WRITTEN(SummaryRun, started, state, unfinished, points, points_without_result, load, times_left_out)

namespace {

Json ranges_json(const SizeRanges& ranges) {
  return {{"word", ranges.word()},
          {"complete", ranges.unknown.empty()},
          {"ranges", ranges.spans},
          {"unknown", ranges.unknown},
          {"text", ranges_text(ranges)}};
}

template <typename Value>
Json or_na(const std::optional<Value>& value, const char* why) {
  return Measured<Value>(value, why);
}

/// "some" if only some of the calls are redundant.
Json redundant_word(const PointTax& point) {
  if (!point.calls || point.calls->empty()) return point.redundant();
  std::uint64_t ops = 0;
  for (const RedundantCalls& calls : *point.calls) ops += calls.ops;
  return ops == point.calls->front().of_ops ? Json(point.redundant()) : Json("some");
}

Json worst_json(const Verdicts& verdicts, const AllocatorTax& tax) {
  if (!tax.worst) return not_available("nothing was measured to compare with");
  constexpr const char* kAlone = "no other allocator was measured there";
  const PointTax& worst = verdicts.points[*tax.worst];
  return Json{{"size_bytes", worst.size_bytes},          {"ns", or_na(worst.calloc_ns, "not timed")},
              {"fastest", or_na(worst.fastest, kAlone)}, {"fastest_ns", or_na(worst.fastest_ns, kAlone)},
              {"ratio", or_na(worst.ratio, kAlone)},     {"text", worst_text(verdicts, worst)}};
}

Json headline_json(const Verdicts& verdicts, std::size_t allocator) {
  Json cells = Json::array();
  for (const std::uint64_t size : kHeadlineSizes) {
    const PointTax* point = headline_point(verdicts, allocator, size);
    cells.push_back(Json{{"size_bytes", size}, {"time", time_cell(point)}, {"redundant", redundant_cell(point)}});
  }
  return cells;
}

Json allocator_json(const Summary& summary, std::size_t n) {
  const AllocatorTax& tax = summary.verdicts.allocators[n];
  const char* worker = tax.worker_points == 0 ? "not measured" : tax.worker_differs.empty() ? "same" : "differs";
  Json json;
  json["id"] = n;
  json["allocator"] = tax.allocator;
  json["version"] = tax.version.empty() ? not_available("its version is not known") : Json(tax.version);
  json["env"] = tax.env;
  json["preload"] = tax.preload;
  json["label"] = tax.label;
  json["name"] = tax.name + tax.build;
  json["sizes"] = {{"measured", tax.redundant.known}, {"unknown", tax.redundant.unknown}, {"failed", tax.failed}};
  json["redundant"] = ranges_json(tax.redundant);
  json["redundant_first"] = ranges_json(tax.redundant_first);
  json["free"] = {{"clears", ranges_json(tax.cleared_in_free)}, {"needlessly", ranges_json(tax.needless_in_free)}};
  json["returns"] = ranges_json(tax.returns);
  json["slow"] = ranges_json(tax.slow);
  json["worst"] = worst_json(summary.verdicts, tax);
  json["avoid"] = nullptr;
  if (const auto& remedies = summary.avoid[n]) {
    json["avoid"] = {{"remedies", *remedies}, {"text", remedies_line(tax.allocator, *remedies)}};
  }
  json["worker"] = {{"word", worker}, {"points", tax.worker_points}, {"bytes_differ_at", tax.worker_differs}};
  json["headline"] = headline_json(summary.verdicts, n);
  return json;
}

/// Of the block, at most all of it: an allocator rounds up, and zeroes what nobody asked for.
Json share_of_block(const std::optional<std::uint64_t>& bytes, const PointTax& point) {
  if (!bytes) return not_available("not audited");
  return std::min(1.0, static_cast<double>(*bytes) / static_cast<double>(point.size_bytes));
}

Json points_json(const Verdicts& verdicts) {
  Json rows = Json::array();
  for (const PointTax& point : verdicts.points) {
    rows.push_back(
        Json::array({point.allocator, point.case_name, point.size_bytes, point.touch, point.thread,
                     word_of(point.status), redundant_word(point), share_of_block(point.redundant_bytes, point),
                     point.first_redundant, point.slow, or_na(point.ratio, "nothing to compare with"),
                     or_na(point.operation_ns, "not timed"), or_na(point.operation_faults, "not counted"),
                     point.calls.value_or(std::vector<RedundantCalls>()), share_of_block(point.zeroed_bytes, point)}));
  }
  return Json{{"key", {"allocator", "case", "size_bytes", "touch", "thread"}},
              {"columns",
               {"status", "redundant", "redundant_share", "redundant_first", "slow", "ratio_to_fastest", "operation_ns",
                "operation_faults", "calls", "zeroed_share"}},
              {"rows", std::move(rows)}};
}

/// The points whose calls are not alike, by their place among the rows.
Json unlike_json(const Verdicts& verdicts) {
  Json unlike = Json::array();
  for (std::size_t row = 0; row < verdicts.points.size(); ++row) {
    const PointTax& point = verdicts.points[row];
    if (!point.modes.empty()) unlike.push_back(Json{{"row", row}, {"kinds", point.modes}});
  }
  return unlike;
}

Json touches_json(const Verdicts& verdicts) {
  std::set<double> touches;
  for (const PointTax& point : verdicts.points) touches.insert(point.touch);
  Json json = Json::object();
  for (const double touch : touches) {
    json[fmt::format("{:g}", touch)] = touch == 0   ? "nothing"
                                       : touch == 1 ? "every page"
                                                    : fmt::format("{:g} % of the pages", touch * 100);
  }
  return json;
}

Json failures_json(const Verdicts& verdicts) {
  Json failures = Json::array();
  for (const PointTax& point : verdicts.points) {
    if (point.is_ok()) continue;
    failures.push_back(Json{{"allocator", point.allocator},
                            {"case", point.case_name},
                            {"size_bytes", point.size_bytes},
                            {"touch", point.touch},
                            {"thread", point.thread},
                            {"status", word_of(point.status)},
                            {"reason", point.reason.empty() ? "no reason given" : point.reason}});
  }
  return failures;
}

}  // namespace

SummaryRun read_summary_run(const Json& run) {
  SummaryRun read;
  if (!run.is_object()) return read;
  const std::string state = text_field(run, "state", "");
  const std::string started = text_field(run, "started", "");
  if (!state.empty()) read.state = state;
  if (!started.empty()) read.started = started;
  read_field(run, "load", read.load);
  read_field(run, "comparable_times", read.comparable_times);
  if (state.empty() || state == "complete") return read;
  const Json plan = run.value("plan", Json());
  const auto points = [&](const char* key) {
    const bool known = plan.is_object() && plan.contains(key) && plan.at(key).is_number_integer();
    return known ? format_count(plan.at(key).get<std::uint64_t>()) : "?";
  };
  const std::string finished = points("points_finished");
  read.unfinished =
      fmt::format("The run is {}: {} of {} points {} measured.", state == "running" ? "still going" : state, finished,
                  points("points_planned"), finished == "1" ? "is" : "are");
  return read;
}

Json summary_json(const Summary& summary) {
  const Verdicts& verdicts = summary.verdicts;
  Json json;
  json["schema"] = "zerotax.summary/1";
  json["run"] = summary.run;
  const std::uint64_t page = verdicts.points.empty() ? page_bytes() : verdicts.points.front().page_bytes;
  json["limits"] = {{"much_of_block", 0.5}, {"little_of_block", 0.05},    {"slow_ratio", kSlowRatio},
                    {"slow_ns", kSlowNs},   {"level_ratio", kLevelRatio}, {"worker_bytes", page}};
  json["words"] = {
      {"redundant", "At least half of the block was zero already when it was zeroed."},
      {"slow", fmt::format("A call takes {} or more, and {:g} times the time of the fastest at that size, or more.",
                           format_ns(kSlowNs), kSlowRatio)}};
  json["allocators"] = Json::array();
  for (std::size_t n = 0; n < verdicts.allocators.size(); ++n) json["allocators"].push_back(allocator_json(summary, n));
  json["ranking"] = summary.ranking;
  json["sentences"] = summary.sentences;
  json["points"] = points_json(verdicts);
  json["touches"] = touches_json(verdicts);
  json["unlike_calls"] = unlike_json(verdicts);
  json["failures"] = failures_json(verdicts);
  return json;
}

}  // namespace zerotax::findings
