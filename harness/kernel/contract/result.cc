#include "contract/result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.h"

namespace zerotax::contract {
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

Contract contract_document(const Results& all, const Request& request) {
  const std::vector<Result>& results = all.results;
  Contract document;
  document.schema = "zerotax.contract/1";
  document.zerotax_version = ZEROTAX_VERSION;
  document.state = completion(all.complete);
  document.started = request.started;
  document.command = request.command;
  document.environment = request.read.empty() ? Measured(describe_environment())
                                              : NotAvailable{fmt::format("the tests ran elsewhere: {}", request.read)};
  document.tested_on = {all.system, "the suite did not run"};
  document.under = fmt::format("{}", fmt::join(all.under, " "));
  document.race_seconds = all.race_seconds;
  document.verdict = count(results, Verdict::kBroken) > 0 ? "broken" : "none broken";
  document.sentence = verdict_sentence(results);
  document.counts = {count(results, Verdict::kKept), count(results, Verdict::kBroken),
                     count(results, Verdict::kUnsupported), count(results, Verdict::kNotTestable)};
  document.promises = results;
  return document;
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
    outcome.verdict = word(each.verdict);
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
