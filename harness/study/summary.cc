#include "study/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/units.h"
#include "core/fleet/hosts.h"
#include "core/output_file.h"
#include "findings/remedies.h"
#include "study/figure_titles.h"
#include "study/summary_sentences.h"
#include "study/summary_words.h"

namespace zerotax::study {

using findings::AllocatorTax;
using findings::Answer;
using findings::PointVerdict;
using findings::RedundantCalls;
using findings::RedundantKind;
using findings::SizeRanges;
using findings::Verdicts;
namespace {

template <typename Value>
Json or_na(const std::optional<Value>& value, const char* why) {
  return value ? Json(*value) : not_available(why);
}

const char* word_of_answer(Answer answer) {
  return answer == Answer::kYes ? "yes" : answer == Answer::kNo ? "no" : "unknown";
}

/// "some" if only one kind of the calls is redundant.
const char* redundant_word(const PointVerdict& point) {
  const bool all =
      !point.calls || point.calls->empty() ||
      std::any_of(point.calls->begin(), point.calls->end(), [](const auto& calls) { return calls.every(); });
  std::uint64_t ops = 0;
  if (!all) {
    for (const RedundantCalls& calls : *point.calls) ops += calls.ops;
  }
  return all || ops == point.calls->front().of_ops ? word_of_answer(point.redundant()) : "some";
}

Json ranges_json(const SizeRanges& ranges) {
  Json spans = Json::array();
  for (const auto& span : ranges.spans) spans.push_back(Json{{"from", span.from}, {"to", span.to}});
  return Json{{"word", ranges.word()},
              {"complete", ranges.unknown.empty()},
              {"ranges", std::move(spans)},
              {"unknown", ranges.unknown},
              {"text", ranges_text(ranges)}};
}

Json worst_json(const Verdicts& verdicts, const AllocatorTax& tax) {
  if (!tax.worst) return not_available("nothing was measured to compare with");
  const PointVerdict& worst = verdicts.points[*tax.worst];
  return Json{{"size_bytes", worst.size_bytes},
              {"ns", or_na(worst.calloc_ns, "not timed")},
              {"fastest", or_na(worst.fastest, "no other allocator was measured there")},
              {"fastest_ns", or_na(worst.fastest_ns, "no other allocator was measured there")},
              {"ratio", or_na(worst.ratio, "no other allocator was measured there")},
              {"text", worst_text(verdicts, worst)}};
}

Json headline_json(const Verdicts& verdicts, std::size_t allocator) {
  Json cells = Json::array();
  for (const std::uint64_t size : kHeadlineSizes) {
    const auto found = std::find_if(verdicts.points.begin(), verdicts.points.end(), [&](const PointVerdict& point) {
      return point.allocator == allocator && point.size_bytes == size && point.is_ok() && is_untouched_loop(point);
    });
    const PointVerdict* point = found == verdicts.points.end() ? nullptr : &*found;
    cells.push_back(Json{{"size_bytes", size}, {"time", time_cell(point)}, {"redundant", redundant_cell(point)}});
  }
  return cells;
}

/// The rules whose findings are needless zeroing by calloc itself.
const std::vector<std::string> kNeedlessRules{"redundant-fresh", "redundant-reuse"};

/// What avoids the needless zeroing of an allocator's later calls, as its project's data says of the findings; null if
/// there is none to avoid, or nobody knows whether there is.
Json avoid_json(const AllocatorTax& tax, const std::vector<findings::AllocatorFindings>& all) {
  if (tax.redundant.spans.empty()) return nullptr;
  Json remedies = Json::array();
  for (const findings::AllocatorFindings& one : all) {
    const std::string version = one.version.is_string() ? one.version.get<std::string>() : "";
    if (one.allocator != tax.allocator || version != tax.version || one.env != Json(tax.env)) continue;
    std::vector<findings::Finding> needless = one.findings;
    // Of the first calls of a process the rule says so in the name.
    std::erase_if(needless, [](const auto& finding) { return finding.name.starts_with(finding.rule + "-first"); });
    remedies = findings::united_remedies(one, needless);
  }
  const std::string text = findings::remedies_line(tax.allocator, remedies);
  return Json{{"remedies", std::move(remedies)}, {"text", text}};
}

/// Whoever zeroes needlessly first, and of these, and of the others, the furthest from the fastest first.
Json ranking_json(const Verdicts& verdicts) {
  std::vector<std::size_t> ids(verdicts.allocators.size());
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  const auto weight = [&](std::size_t n) {
    const AllocatorTax& tax = verdicts.allocators[n];
    const double ratio = tax.worst ? verdicts.points[*tax.worst].ratio.value_or(0) : 0;
    return std::pair(!tax.redundant.spans.empty(), ratio);
  };
  std::stable_sort(ids.begin(), ids.end(), [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
  return ids;
}

Json allocator_json(const Verdicts& verdicts, std::size_t n, const std::vector<findings::AllocatorFindings>& all) {
  const AllocatorTax& tax = verdicts.allocators[n];
  const char* worker = tax.worker_points == 0 ? "not measured" : tax.worker_differs.empty() ? "same" : "differs";
  Json json;
  json["id"] = n;
  json["allocator"] = tax.allocator;
  json["version"] = tax.version.empty() ? not_available("its version is not known") : Json(tax.version);
  json["env"] = Json(Json::object());
  for (const auto& [key, value] : tax.env) json["env"][key] = value;
  json["preload"] = tax.preload;
  json["label"] = tax.label;
  json["name"] = tax.name + tax.build;
  json["sizes"] = Json{{"measured", tax.redundant.known}, {"unknown", tax.redundant.unknown}, {"failed", tax.failed}};
  json["redundant"] = ranges_json(tax.redundant);
  json["redundant_first"] = ranges_json(tax.redundant_first);
  json["free"] = Json{{"clears", ranges_json(tax.cleared_in_free)}, {"needlessly", ranges_json(tax.needless_in_free)}};
  json["returns"] = ranges_json(tax.returns);
  json["slow"] = ranges_json(tax.slow);
  json["worst"] = worst_json(verdicts, tax);
  json["avoid"] = avoid_json(tax, all);
  json["worker"] = Json{{"word", worker}, {"points", tax.worker_points}, {"bytes_differ_at", tax.worker_differs}};
  json["headline"] = headline_json(verdicts, n);
  return json;
}

Json calls_json(const PointVerdict& point) {
  Json all = Json::array();
  if (!point.calls) return all;
  for (const RedundantCalls& calls : *point.calls) {
    all.push_back(Json{{"kind", calls.kind == RedundantKind::kFresh ? "fresh" : "reuse"},
                       {"ops", calls.ops},
                       {"of_ops", calls.of_ops},
                       {"redundant_bytes", calls.redundant_bytes},
                       {"calloc_ns", or_na(calls.calloc_ns, "the timing pass saw no such call")}});
  }
  return all;
}

/// Of the block, at most all of it: an allocator rounds up, and zeroes what nobody asked for.
Json share_of_block(const std::optional<std::uint64_t>& bytes, const PointVerdict& point) {
  if (!bytes) return not_available("not audited");
  return std::min(1.0, static_cast<double>(*bytes) / static_cast<double>(point.size_bytes));
}

Json row_of(const PointVerdict& point) {
  return Json::array({point.allocator, point.case_name, point.size_bytes, point.touch, point.thread,
                      word_of(point.status), redundant_word(point), share_of_block(point.redundant_bytes, point),
                      word_of_answer(point.first_redundant), word_of_answer(point.slow),
                      or_na(point.ratio, "nothing to compare with"), or_na(point.operation_ns, "not timed"),
                      or_na(point.operation_faults, "not counted"), calls_json(point),
                      share_of_block(point.zeroed_bytes, point)});
}

Json points_json(const Verdicts& verdicts) {
  Json rows = Json::array();
  for (const PointVerdict& point : verdicts.points) rows.push_back(row_of(point));
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
    const PointVerdict& point = verdicts.points[row];
    if (!point.modes.empty()) unlike.push_back(Json{{"row", row}, {"kinds", point.modes}});
  }
  return unlike;
}

Json touches_json(const Verdicts& verdicts) {
  std::vector<double> touches;
  for (const PointVerdict& point : verdicts.points) touches.push_back(point.touch);
  std::sort(touches.begin(), touches.end());
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
  for (const PointVerdict& point : verdicts.points) {
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

/// That a run is not complete, and how far it got; null if it is, or if that is not known.
Json unfinished_text(const Json& run) {
  const std::string state = run.is_object() ? text_field(run, "state", "complete") : "complete";
  if (state == "complete") return nullptr;
  const auto points = [&](const char* key) {
    const auto plan = run.find("plan");
    const bool known =
        plan != run.end() && plan->is_object() && plan->contains(key) && plan->at(key).is_number_integer();
    return known ? format_count(plan->at(key).get<std::uint64_t>()) : std::string("?");
  };
  const std::string finished = points("points_finished");
  return fmt::format("The run is {}: {} of {} points {} measured.", state == "running" ? "still going" : state,
                     finished, points("points_planned"), finished == "1" ? "is" : "are");
}

Json run_head(const Verdicts& verdicts, const Json& run) {
  const auto word = [&](const char* key) {
    const std::string text = run.is_object() ? text_field(run, key, "") : "";
    return text.empty() ? not_available("the points were given without their run") : Json(text);
  };
  Json head{{"started", word("started")},
            {"state", word("state")},
            {"unfinished", unfinished_text(run)},
            {"points", verdicts.points.size()},
            {"points_without_result", std::count_if(verdicts.points.begin(), verdicts.points.end(),
                                                    [](const auto& one) { return !one.is_ok(); })}};
  if (run.is_object() && run.contains("load")) head["load"] = run.at("load");
  return head;
}

}  // namespace

Json summary_json(const std::vector<Point>& all, const Json& run) {
  std::vector<Point> points = all;
  const Json comparable = run.is_object() ? run.value("comparable_times", Json()) : Json();
  const std::string left_out = fleet::left_out_text(comparable, fleet::leave_out_times(comparable, points));
  const Verdicts verdicts = findings::find_verdicts(points);
  const auto needless = findings::find_findings(points, nullptr, {}, kNeedlessRules);
  Json json;
  json["schema"] = "zerotax.summary/1";
  json["run"] = run_head(verdicts, run);
  if (!left_out.empty()) json["run"]["times_left_out"] = left_out;
  json["limits"] = Json{{"much_of_block", 0.5},
                        {"little_of_block", 0.05},
                        {"slow_ratio", findings::kSlowRatio},
                        {"slow_ns", findings::kSlowNs},
                        {"level_ratio", findings::kLevelRatio},
                        {"worker_bytes", findings::kWorkerBytes}};
  json["words"] = Json{
      {"redundant", "At least half of the block was zero already when it was zeroed."},
      {"slow", fmt::format("A call takes {} or more, and {:g} times the time of the fastest at that size, or more.",
                           format_ns(findings::kSlowNs), findings::kSlowRatio)}};
  json["allocators"] = Json::array();
  for (std::size_t n = 0; n < verdicts.allocators.size(); ++n) {
    json["allocators"].push_back(allocator_json(verdicts, n, needless));
  }
  json["ranking"] = ranking_json(verdicts);
  json["sentences"] = summary_sentences(verdicts, json["run"], left_out);
  json["points"] = points_json(verdicts);
  json["touches"] = touches_json(verdicts);
  json["unlike_calls"] = unlike_json(verdicts);
  json["figures"] = figure_titles(verdicts);
  json["failures"] = failures_json(verdicts);
  return json;
}

Json write_summary(const ResultsFolder& folder, const std::vector<Point>& points) {
  Json summary = summary_json(points, read_json_file(folder.path() + "/run.json"));
  folder.write("summary.json", json_text(summary));
  return summary;
}

}  // namespace zerotax::study
