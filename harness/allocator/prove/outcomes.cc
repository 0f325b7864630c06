#include <fmt/format.h>

#include <algorithm>

#include "prove/result.h"

namespace zerotax::prove {

using exchange::Outcome;
using exchange::OutcomeKind;
using exchange::OutcomeList;

Outcome prove_outcome(const Proof& proof) {
  constexpr OutcomeKind kKinds[] = {OutcomeKind::kSame, OutcomeKind::kFailed, OutcomeKind::kSkipped,
                                    OutcomeKind::kSkipped};
  Outcome outcome;
  outcome.suite = proof.name();
  outcome.name = "promises";
  outcome.kind = kKinds[static_cast<std::size_t>(proof.verdict)];
  outcome.fails = proof.verdict == ProofVerdict::kFound;
  outcome.verdict = word(proof.verdict);
  outcome.headline = proof.sentence;
  if (proof.finding && proof.finding->program) {
    outcome.details = fmt::format("{}\n\n{}", proof.finding->program->how, source_text(*proof.finding->program));
  }
  return outcome;
}

OutcomeList prove_outcomes(const Proofs& proofs) {
  OutcomeList list;
  list.command = "zerotax prove";
  list.thing = "promise";
  list.passed_in_table = true;
  for (const Proof& proof : proofs.proofs) {
    list.subject += (list.subject.empty() ? "" : ", ") + proof.name();
    list.sentence += (list.sentence.empty() ? "" : " ") + proof.sentence;
    list.outcomes.push_back(prove_outcome(proof));
  }
  const bool is_tested = std::any_of(proofs.proofs.begin(), proofs.proofs.end(),
                                     [](const Proof& each) { return each.verdict == ProofVerdict::kClean; });
  list.kind = any_found(proofs) ? OutcomeKind::kFailed : is_tested ? OutcomeKind::kSame : OutcomeKind::kSkipped;
  list.verdict = any_found(proofs) ? "found" : is_tested ? "clean" : "untested";
  return list;
}

}  // namespace zerotax::prove
