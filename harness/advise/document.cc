#include "advise/document.h"

#include <fmt/format.h>

#include <cmath>

#include "advise/estimates.h"
#include "advise/verdict.h"
#include "cli/subcommand.h"

namespace zerotax::advise {
namespace {

Json text_or_na(const std::string& text, const char* why) { return text.empty() ? not_available(why) : Json(text); }

Json figures_json(const Figures& figures) {
  return {{"cpu_s", figures.cpu_s},
          {"wall_s", figures.wall_s},
          {"faults", figures.faults},
          {"peak_bytes", figures.peak_bytes}};
}

const char* end_name(Trial::End end) {
  constexpr const char* kNames[] = {"ok", "failed", "changed_output", "stopped"};
  return kNames[static_cast<std::size_t>(end)];
}

Json name_or_null(const Advice& advice, std::size_t candidate) {
  return candidate == kPresent ? Json(nullptr) : Json(advice.catalogue.remedies[candidate].name);
}

Json run_json(const Advice& advice, const SearchRun& run) {
  Json json;
  json["remedy"] = name_or_null(advice, run.candidate);
  json["phase"] = phase_name(run.phase);
  json["round"] = run.round;
  json["end"] = end_name(run.trial.end);
  json["figures"] = figures_json(run.trial.figures);
  return json;
}

Json remedy_json(const Advice& advice, std::size_t i) {
  const Remedy& remedy = advice.catalogue.remedies[i];
  const Standing& standing = advice.result.standings[i];
  Json json;
  json["name"] = remedy.name;
  json["allocator"] = remedy.allocator;
  json["version"] = text_or_na(remedy.version, "its library was not asked");
  json["preload"] = remedy.preload.empty() ? Json(nullptr) : Json(remedy.preload);
  json["env"] = Json::object();
  for (const auto& [key, value] : remedy.env) json["env"][key] = value;
  json["line"] = paste_text(remedy);
  json["words"] = remedy.words;
  json["costs"] = remedy.costs;
  json["verdict"] = remedy_verdict(advice, i);
  json["reason"] = standing.state == Standing::State::kOk ? "" : standing.why;
  json["heavy"] = standing.heavy;
  const Confirmation* confirmation = confirmation_of(advice, i);
  json["confirmed"] = confirmation != nullptr && !confirmation->verdicts.empty();
  std::size_t runs = 0;
  for (const SearchRun& run : advice.result.runs) runs += run.candidate == i ? 1 : 0;
  json["runs"] = runs;
  json["ratios"] = Json::object();
  for (const Goal goal : kGoals) json["ratios"][goal_name(goal)] = remedy_ratio(advice, i, goal);
  return json;
}

Json confirmation_json(const Advice& advice, const Confirmation& confirmation) {
  Json json;
  json["remedy"] = advice.catalogue.remedies[confirmation.candidate].name;
  json["planned_pairs"] = confirmation.planned;
  json["pairs"] = Json::array();
  for (std::size_t i = 0; i < confirmation.present.size(); ++i) {
    json["pairs"].push_back(
        {{"present", figures_json(confirmation.present[i])}, {"remedy", figures_json(confirmation.remedy[i])}});
  }
  json["alpha"] = confirmation.alpha;
  json["confirmed"] = confirmation.confirmed;
  json["why_not"] = confirmation.why_not;
  const bool judged = !confirmation.verdicts.empty();
  json["p"] = judged ? Json(confirmation.verdicts[static_cast<std::size_t>(advice.request.method.goal)].p)
                     : not_available("it was not finished");
  return json;
}

Json recording_json(const Recording& recording) {
  if (!recording.why_not.empty()) return not_available(recording.why_not);
  if (recording.tax.is_null()) return not_available("it was not recorded");
  Json json;
  json["allocator_file"] = recording.allocator;
  json["share_of_cpu"] = recording.tax.at("share_of_cpu");
  json["causes"] = Json::array();
  for (const Json& row : recording.tax.at("rows")) {
    json["causes"].push_back(
        {{"cause", row.at("cause")}, {"cpu_ns", row.at("cpu_ns")}, {"share_of_cpu", row.at("share_of_cpu")}});
  }
  for (const auto& [key, value] : recording.totals.items()) json[key] = value;
  json["by_hand_at"] = recording.by_hand;
  return json;
}

Json method_json(const SearchMethod& method, const Advice& advice) {
  Json json;
  json["goal"] = goal_name(method.goal);
  json["alpha"] = method.alpha;
  json["band"] = method.band;
  json["memory_ratio"] = method.memory_ratio;
  json["most_pairs"] = method.most_pairs;
  json["timeout_s"] = advice.request.target.timeout_s;
  json["output_compared"] = !advice.request.target.ignore_output && !advice.request.target.is_server();
  json["seed"] = method.seed;
  json["noise"] = advice.result.noise;
  return json;
}

Json present_json(const Advice& advice) {
  Json json;
  json["allocator"] = text_or_na(advice.allocator, "it is none that zerotax knows");
  json["version"] = text_or_na(advice.allocator_version, "it was not asked");
  Figures figures;
  const auto& runs = advice.result.runs;
  figures.cpu_s = median_figure(runs, kPresent, Goal::kCpu);
  figures.wall_s = median_figure(runs, kPresent, Goal::kWall);
  figures.faults = median_figure(runs, kPresent, Goal::kFaults);
  figures.peak_bytes = median_figure(runs, kPresent, Goal::kMemory);
  json["figures"] = figures.faults == 0 ? not_available("it was run to be recorded only") : figures_json(figures);
  return json;
}

}  // namespace

Json self_test_json(const SelfTest& test, const Request& request) {
  Json json;
  json["schema"] = "zerotax.advise_self_test/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["started"] = test.started;
  json["command"] = Subcommand::command_line;
  json["environment"] = test.environment;
  json["goal"] = goal_name(request.method.goal);
  json["advices"] = test.advices;
  json["recommended"] = test.alarms;
  json["runs"] = Json::array();
  for (const Figures& run : test.runs) json["runs"].push_back(figures_json(run));
  return json;
}

Json advise_json(const Advice& advice) {
  const Target& target = advice.request.target;
  Json json;
  json["schema"] = "zerotax.advise/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["started"] = advice.started;
  json["complete"] = advice.complete;
  json["command"] = Subcommand::command_line;
  json["environment"] = advice.environment;
  json["program"] = {{"words", target.words}, {"input", target.input}, {"ready", target.ready}, {"load", target.load}};
  json["recommendation"] = recommendation(advice);
  json["method"] = method_json(advice.request.method, advice);
  json["present"] = present_json(advice);
  json["recording"] = recording_json(advice.recording);
  json["recording_after"] = advice.after ? recording_json(*advice.after) : Json(nullptr);
  json["startup_ms"] = advice.startup_ms ? Json(*advice.startup_ms) : Json(nullptr);
  json["remedies"] = Json::array();
  json["not_tried"] = Json::array();
  for (std::size_t i = 0; i < advice.result.standings.size(); ++i) {
    if (advice.result.standings[i].state == Standing::State::kNotTried) {
      const std::string& why = advice.result.standings[i].why;
      json["not_tried"].push_back(
          {{"name", advice.catalogue.remedies[i].name}, {"why", why.empty() ? "it was interrupted before" : why}});
    } else {
      json["remedies"].push_back(remedy_json(advice, i));
    }
  }
  for (const NotTried& each : advice.catalogue.not_tried) {
    json["not_tried"].push_back({{"name", each.name}, {"why", each.why}});
  }
  json["confirmations"] = Json::array();
  for (const Confirmation& each : advice.result.confirmations) {
    json["confirmations"].push_back(confirmation_json(advice, each));
  }
  json["runs"] = Json::array();
  for (const SearchRun& run : advice.result.runs) json["runs"].push_back(run_json(advice, run));
  return json;
}

}  // namespace zerotax::advise
