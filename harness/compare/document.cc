#include <fmt/format.h>

#include <cmath>

#include "base/fields.h"
#include "compare/comparison.h"

namespace zerotax::compare {
namespace {

Json interval_json(const Interval& interval) {
  if (!std::isfinite(interval.low)) return not_available("too few pairs for this level");
  return {{"low", std::exp(interval.low)}, {"high", std::exp(interval.high)}};
}

const char* time_word(TimeVerdict::Kind kind) {
  constexpr const char* kWords[] = {"unknown", "same", "faster", "slower", "ambiguous"};
  return kWords[static_cast<std::size_t>(kind)];
}

Json time_json(const TimeVerdict& time) {
  if (time.kind == TimeVerdict::Kind::kUnknown) return not_available("there are no pairs of processes");
  return {{"verdict", time_word(time.kind)},
          {"ratio", std::exp(time.log_ratio)},
          {"band", std::exp(time.band)},
          {"p", time.p},
          {"adjusted_p", time.adjusted_p},
          {"level", time.level},
          {"interval", interval_json(time.interval)},
          {"interval_95", interval_json(time.interval95)}};
}

ZEROTAX_FIELDS_WRITTEN(CompareMethod, alpha, band, floor_ns, same)
ZEROTAX_FIELDS_WRITTEN(Work, zeroed_bytes, redundant_zeroed_bytes, faults, syscalls)

Json side_json(const ComparedPoint& point, bool after) {
  const ComparedSide& side = after ? point.after : point.before;
  const Measured<double> ns(side_ns(point, after), side.invalid.empty() ? "not measured" : side.invalid);
  Json json{{"allocator", side.allocator}, {"ns", ns}};
  to_json(json["work"], side.work);
  if (!side.modes.empty()) json["modes"] = side.modes;
  return json;
}

Json thing_json(const ComparedThing& side) {
  return {{"label", side_label(side)},
          {"what", side.allocator ? allocator_json(*side.allocator) : Json{{"file", side.file}}},
          {"environment", side.environment}};
}

/// "-38.2 %", "+1,852 %" as "+1852 %": tenths of a multiple say nothing.
std::string percent_text(double log_ratio) {
  const double percent = 100 * (std::exp(log_ratio) - 1);
  return percent < 99.95 ? fmt::format("{:+.1f} %", percent) : fmt::format("{:+.0f} %", percent);
}

/// What became of the time, as benchmarks say it; of runs that were made apart, of the medians alone.
Json change_text(const ComparedPoint& point, const TimeVerdict& time) {
  if (time.kind != TimeVerdict::Kind::kUnknown) return percent_text(time.log_ratio);
  const auto before = side_ns(point, false);
  const auto after = side_ns(point, true);
  if (!before || !after || *before <= 0 || *after <= 0) return not_available("not timed on both sides");
  return percent_text(std::log(*after / *before));
}

Json change_interval_text(const TimeVerdict& time) {
  if (time.kind == TimeVerdict::Kind::kUnknown) return not_available("there are no pairs of processes");
  if (!std::isfinite(time.interval95.low)) return not_available("too few pairs for this level");
  return fmt::format("{} to {}", percent_text(time.interval95.low), percent_text(time.interval95.high));
}

Json point_json(const CompareReport& report, std::size_t i) {
  const ComparedPoint& point = report.points[i];
  const CompareVerdict& verdict = report.verdicts[i];
  Json json;
  json["label"] = point_label(report, i);
  json["case"] = point.case_name;
  json["size_bytes"] = point.size_bytes;
  json["touch"] = point.touch;
  json["thread"] = point.thread;
  json["verdict"] = compare_word(verdict.kind);
  json["reason"] = verdict.reason;
  json["work"] = Json::array();
  for (const WorkChange& change : verdict.work) {
    json["work"].push_back({{"figure", change.name},
                            {"old", change.before},
                            {"new", change.after},
                            {"change", change.direction > 0   ? "more"
                                       : change.direction < 0 ? "less"
                                                              : "none proven"},
                            {"decides", change.decides}});
  }
  json["time"] = time_json(verdict.time);
  json["change"] = change_text(point, verdict.time);
  json["change_interval"] = change_interval_text(verdict.time);
  json["old"] = side_json(point, false);
  json["new"] = side_json(point, true);
  json["pairs"] = Json::array();
  for (const CostPair& pair : point.pairs) {
    json["pairs"].push_back({{"old_ns", pair.a_ns}, {"new_ns", pair.b_ns}, {"first", pair.a_first ? "old" : "new"}});
  }
  return json;
}

}  // namespace

Json compare_json(const CompareReport& report) {
  Json json;
  json["schema"] = "zerotax.compare/1";
  json["state"] = report.whole ? "complete" : "interrupted";
  json["verdict"] = exchange::word_of(compare_kind(report.verdicts));
  json["sentence"] = count_text(report.verdicts);
  json["notes"] = compare_notes(report);
  json["measured"] = report.measured;
  json["old"] = thing_json(report.before);
  json["new"] = thing_json(report.after);
  json["cost"] = report.cost == Cost::kCalloc ? "calloc" : "total";
  json["pairs_per_point"] = report.measured ? Json(report.pairs) : Json(nullptr);
  to_json(json["method"], report.method);
  const char* none = "there are no pairs of processes";
  json["false_alarms"]["shuffled"] = report.shuffled_rate
                                         ? Json{{"comparisons", report.shuffles}, {"share", *report.shuffled_rate}}
                                         : not_available(none);
  json["false_alarms"]["self_test"] =
      report.self_test ? Json{{"comparisons", report.self_test->comparisons}, {"alarms", report.self_test->alarms}}
                       : not_available("not asked for (--self-test)");
  json["counts"] = Json::object();
  for (const CompareKind kind : {CompareKind::kSame, CompareKind::kFaster, CompareKind::kSlower,
                                 CompareKind::kAmbiguous, CompareKind::kInvalid}) {
    json["counts"][compare_word(kind)] = 0;
  }
  json["points"] = Json::array();
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    json["points"].push_back(point_json(report, i));
    Json& count = json["counts"][compare_word(report.verdicts[i].kind)];
    count = count.get<int>() + 1;
  }
  return json;
}

void add_more(Json& document, Json more) { document["more"].push_back(std::move(more)); }

}  // namespace zerotax::compare
