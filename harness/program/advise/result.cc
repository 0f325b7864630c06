#include "advise/result.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/advice.h"
#include "advise/estimates.h"
#include "base/names.h"
#include "base/shell.h"
#include "cli/subcommand.h"

namespace zerotax::advise {
namespace {

OrNull<std::string> remedy_name(const Advice& advice, std::size_t candidate) {
  if (candidate == kPresent) return {};
  return advice.catalogue.remedies[candidate].name;
}

TriedRemedy tried_remedy(const Advice& advice, std::size_t i) {
  const Remedy& remedy = advice.catalogue.remedies[i];
  const Standing& standing = advice.result.standings[i];
  const Confirmation* confirmation = confirmation_of(advice, i);
  TriedRemedy tried;
  static_cast<Remedy&>(tried) = remedy;
  tried.line = paste_text(remedy);
  tried.verdict = remedy_verdict(advice, i);
  if (standing.state != Standing::State::kOk) tried.reason = standing.why;
  tried.heavy = standing.heavy;
  tried.confirmed = confirmation != nullptr && !confirmation->verdicts.empty();
  for (const SearchRun& run : advice.result.runs) tried.runs += run.candidate == i ? 1 : 0;
  for (const Goal goal : kGoals) ratio_for(tried.ratios, goal) = remedy_ratio(advice, i, goal);
  return tried;
}

ConfirmedRemedy confirmed_remedy(const Advice& advice, const Confirmation& confirmation) {
  ConfirmedRemedy confirmed;
  confirmed.remedy = advice.catalogue.remedies[confirmation.candidate].name;
  confirmed.planned_pairs = confirmation.planned;
  for (std::size_t i = 0; i < confirmation.present.size(); ++i) {
    confirmed.pairs.push_back({confirmation.present[i], confirmation.remedy[i]});
  }
  confirmed.alpha = confirmation.alpha;
  confirmed.confirmed = confirmation.confirmed;
  confirmed.why_not = confirmation.why_not;
  confirmed.p = NotAvailable{"the confirmation was not finished"};
  if (!confirmation.verdicts.empty()) confirmed.p = verdict_of(confirmation, advice.request.method.goal).p;
  return confirmed;
}

/// Returns the copies of the unchanged run whose copied bytes are the median.
std::optional<Copies> typical_copies(const std::vector<SearchRun>& runs) {
  std::vector<Copies> found;
  for (const SearchRun& run : runs) {
    const auto& copies = run.trial.figures.copies;
    const bool counts = run.candidate == kPresent && run.trial.end == Trial::End::kOk && run.phase != Phase::kWarmUp;
    if (counts && copies && copies->copied_bytes) found.push_back(*copies);
  }
  if (found.empty()) return std::nullopt;
  const auto middle = found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2);
  std::nth_element(found.begin(), middle, found.end(),
                   [](const Copies& a, const Copies& b) { return *a.copied_bytes < *b.copied_bytes; });
  return *middle;
}

Present present_of(const Advice& advice) {
  const auto figure = [&](Goal goal) { return median_figure(advice.result.runs, kPresent, goal); };
  Figures figures{figure(Goal::kCpu), figure(Goal::kWall), figure(Goal::kFaults), figure(Goal::kMemory)};
  for (const SearchRun& run : advice.result.runs) {
    if (run.candidate != kPresent || run.trial.end != Trial::End::kOk) continue;
    figures.idle_bytes = run.trial.figures.idle_bytes;
    if (!figures.idle_bytes) continue;
    figures.idle_bytes = figure(Goal::kIdle);
    figures.idle_measure = run.trial.figures.idle_measure;
    break;
  }
  figures.copies = typical_copies(advice.result.runs);
  return {known_if(!advice.allocator.name.empty(), advice.allocator.name, "it is none that zerotax knows"),
          known_if(!advice.allocator.version.empty(), advice.allocator.version, "it was not asked"),
          known_if(figures.faults != 0, figures, "it was run to be recorded only")};
}

Measured<RecordedZeroing> zeroing_of(const Recording& recording) {
  if (!recording) return NotAvailable{recording.why()};
  return RecordedZeroing(*recording);
}

}  // namespace

std::string command_text(const Program& program) { return program.replay ? "PROGRAM" : shell_text(program.words); }

std::string replay_sentence(const Program& program) {
  if (!program.replay) return "";
  return fmt::format(
      "The runs are replays of {}: CPU times are those of its calls alone. PROGRAM stands for the recorded program.",
      file_name(program.words.front()));
}

AdviceResult advice_result(const Advice& advice) {
  const Target& target = advice.request.target;
  AdviceResult result;
  result.schema = "zerotax.advise/1";
  result.zerotax_version = ZEROTAX_VERSION;
  result.started = advice.started;
  result.complete = advice.complete;
  result.command = Subcommand::command_line;
  result.environment = advice.environment;
  result.program = target;
  result.recommendation = recommendation(advice);
  if (advice.complete && advice.request.method.goal == Goal::kShared) result.untried_changes = untried_changes(advice);
  result.method = {advice.request.method, target.timeout_s, !target.ignore_output && !target.is_server(),
                   advice.result.noise};
  result.present = present_of(advice);
  result.recording = zeroing_of(advice.recording);
  if (advice.after) result.recording_after = zeroing_of(*advice.after);
  if (advice.startup_ms) result.startup_ms = *advice.startup_ms;
  for (std::size_t i = 0; i < advice.result.standings.size(); ++i) {
    const Standing& standing = advice.result.standings[i];
    if (standing.state != Standing::State::kNotTried) {
      result.remedies.push_back(tried_remedy(advice, i));
    } else if (!advice.frontier) {  // otherwise, most values of a lever were not needed
      result.not_tried.push_back(
          {advice.catalogue.remedies[i].name,
           standing.why.empty() ? "the search was interrupted before this remedy" : standing.why});
    }
  }
  result.not_tried.insert(result.not_tried.end(), advice.catalogue.not_tried.begin(), advice.catalogue.not_tried.end());
  for (const Confirmation& each : advice.result.confirmations) {
    result.confirmations.push_back(confirmed_remedy(advice, each));
  }
  if (advice.frontier) result.frontier = frontier_found(advice);
  for (const SearchRun& run : advice.result.runs) {
    result.runs.push_back({remedy_name(advice, run.candidate), run.phase, run.round, run.trial.end, run.trial.figures});
  }
  return result;
}

Json advise_json(const AdviceResult& advice) { return advice; }
AdviceResult read_advise(const Json& json) { return json.get<AdviceResult>(); }

}  // namespace zerotax::advise
