#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.h"
#include "contract/promise.h"
#include "os/environment.h"

namespace zerotax::contract {
namespace {

Json evidence_json(const Evidence& evidence) {
  return {{"address", evidence.address},
          {"offset_bytes", evidence.offset},
          {"expected", evidence.expected},
          {"found", evidence.found}};
}

Json reproducer_json(const Reproducer& made) {
  Json json;
  json["program"] = made.program;
  const Reproducer::Run& run = made.shown;
  json["status"] = run.why_not.empty() ? Json(run.status) : not_available(run.why_not);
  json["shows_it"] = run.why_not.empty() ? Json(run.status == 1) : not_available(run.why_not);
  json["output"] = run.output;
  return json;
}

Json result_json(const Result& result) {
  Json json;
  json["id"] = result.promise.id;
  json["family"] = result.promise.family;
  json["statement"] = result.promise.statement;
  json["relied_on_by"] = Json::array();
  for (const Reliance& one : result.promise.relied_on_by) {
    json["relied_on_by"].push_back({{"who", one.who}, {"where", one.where.empty() ? Json(nullptr) : Json(one.where)}});
  }
  json["verdict"] = word_of(result.verdict);
  json["detail"] = result.detail.empty() ? Json(nullptr) : Json(result.detail);
  json["error"] = result.error.empty() ? Json(nullptr) : Json(result.error);
  json["seconds"] = result.seconds;
  json["tries"] = result.tries ? Json(*result.tries) : Json(nullptr);
  json["evidence"] = result.evidence ? evidence_json(*result.evidence) : Json(nullptr);
  json["reproducer"] = result.reproducer ? reproducer_json(*result.reproducer) : Json(nullptr);
  return json;
}

Json system_json(const System& system) {
  return {{"system", system.name},
          {"kernel", system.kernel},
          {"machine", system.machine},
          {"page_bytes", system.page_bytes},
          {"user_id", system.user_id}};
}

}  // namespace

std::size_t count(const std::vector<Result>& results, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(), [&](const Result& each) { return each.verdict == verdict; }));
}

bool is_nothing_tested(const std::vector<Result>& results) {
  return count(results, Verdict::kNotTestable) == results.size();
}

std::string verdict_sentence(const std::vector<Result>& results) {
  const std::size_t broken = count(results, Verdict::kBroken);
  const std::string others =
      fmt::format("{} kept, {} unsupported, {} not testable here.", count(results, Verdict::kKept),
                  count(results, Verdict::kUnsupported), count(results, Verdict::kNotTestable));
  if (is_nothing_tested(results)) return fmt::format("None of {} promises could be tested: {}", results.size(), others);
  if (broken == 0) return fmt::format("No promise of {} is broken: {}", results.size(), others);
  return fmt::format("{} of {} {} broken; {}", broken, format_counted(results.size(), "promise"),
                     broken == 1 ? "is" : "are", others);
}

Json contract_json(const Results& all, const Request& request) {
  const std::vector<Result>& results = all.results;
  Json json;
  json["schema"] = "zerotax.contract/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["state"] = all.complete ? "complete" : "interrupted";
  json["started"] = request.started;
  json["command"] = request.command;
  json["environment"] = request.read.empty() ? Json(describe_environment())
                                             : not_available(fmt::format("the tests ran elsewhere: {}", request.read));
  json["tested_on"] = all.system ? system_json(*all.system) : not_available("the suite did not run");
  json["under"] = all.under.empty() ? Json(nullptr) : Json(fmt::format("{}", fmt::join(all.under, " ")));
  json["race_seconds"] = all.race_seconds;
  json["verdict"] = count(results, Verdict::kBroken) > 0 ? "broken" : "none broken";
  json["sentence"] = verdict_sentence(results);
  json["counts"] = {{"kept", count(results, Verdict::kKept)},
                    {"broken", count(results, Verdict::kBroken)},
                    {"unsupported", count(results, Verdict::kUnsupported)},
                    {"not_testable_here", count(results, Verdict::kNotTestable)}};
  json["promises"] = Json::array();
  for (const Result& each : results) json["promises"].push_back(result_json(each));
  return json;
}

exchange::OutcomeList contract_outcomes(const std::vector<Result>& results) {
  using exchange::OutcomeKind;
  exchange::OutcomeList list;
  list.command = "zerotax contract";
  list.subject = "this kernel";
  list.sentence = verdict_sentence(results);
  list.thing = "promise";
  if (count(results, Verdict::kBroken) > 0) list.kind = OutcomeKind::kFailed;
  for (const Result& each : results) {
    exchange::Outcome outcome;
    outcome.suite = each.promise.family;
    outcome.name = each.promise.id;
    outcome.verdict = word_of(each.verdict);
    outcome.fails = each.verdict == Verdict::kBroken;
    outcome.kind = outcome.fails                    ? OutcomeKind::kFailed
                   : each.verdict == Verdict::kKept ? OutcomeKind::kSame
                                                    : OutcomeKind::kSkipped;
    outcome.headline = each.promise.statement;
    if (!each.detail.empty()) outcome.details = each.promise.statement + "\n" + each.detail;
    if (each.reproducer) outcome.details += "\n\n" + each.reproducer->program;
    list.outcomes.push_back(std::move(outcome));
  }
  return list;
}

}  // namespace zerotax::contract
