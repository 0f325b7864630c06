#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "advise/advice.h"
#include "advise/estimates.h"
#include "base/shell.h"
#include "base/statistics.h"
#include "base/units.h"

namespace zerotax::advise {

const char* goal_words(Goal goal) {
  constexpr const char* kWords[] = {"CPU time",    "wall time",      "page faults",
                                    "peak memory", "memory at idle", "copied memory"};
  return kWords[static_cast<std::size_t>(goal)];
}

const char* goal_words(Goal goal, const Figures& figures) {
  const bool mean = goal == Goal::kIdle && figures.idle_measure == IdleMeasure::kMean;
  return mean ? "mean memory" : goal_words(goal);
}

std::string value_text(Goal goal, double value) {
  if (goal == Goal::kFaults) return format_count(static_cast<std::uint64_t>(value));
  if (is_memory(goal) || goal == Goal::kShared) return format_size(static_cast<std::uint64_t>(value));
  return format_ns(value * 1e9);
}

namespace {

std::string kind_word(TimeVerdict::Kind kind, Goal goal) {
  using Kind = TimeVerdict::Kind;
  const bool time = goal == Goal::kCpu || goal == Goal::kWall;
  if (!time && kind == Kind::kFaster) return "LESS";
  if (!time && kind == Kind::kSlower) return "MORE";
  return word(kind);
}

std::vector<double> figures(const std::vector<Figures>& runs, Goal goal) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const Figures& run : runs) {
    if (const auto value = figure_of(run, goal)) values.push_back(*value);
  }
  return values;
}

std::string gains_text(const Confirmation& confirmation, Goal goal) {
  std::string text = change_text(confirmation, goal);
  for (const Goal other : kGoals) {
    if (other == goal || verdict_of(confirmation, other).interval95.high >= 0) continue;
    text += "; " + change_text(confirmation, other);
  }
  return text + ".";
}

/// Returns a sentence about the differences between the recordings of the unchanged program and of the remedy. These
/// counts are exact even if times are not. Omits counts that are missing in one recording.
std::string recorded_text(const Advice& advice) {
  if (!advice.after || !*advice.after || !advice.recording) return "";
  std::vector<std::string> changes;
  const auto add = [&](const char* words, record::Count RecordedZeroing::*bytes) {
    const record::Count& before = *advice.recording.*bytes;
    const record::Count& after = **advice.after.*bytes;
    if (before && after)
      changes.push_back(fmt::format("{} {} -> {}", words, format_size(*before), format_size(*after)));
  };
  add("kernel-zeroed", &RecordedZeroing::kernel_zeroed_bytes);
  add("refilled", &RecordedZeroing::refilled_bytes);
  add("zeroed by the allocator", &RecordedZeroing::zeroed_bytes);
  return changes.empty() ? "" : fmt::format("Recorded: {}.", fmt::join(changes, ", "));
}

/// Returns a sentence about memory that the remedy keeps and the unchanged program returns. This memory is a cost even
/// if the peak is the same, because an idle program keeps it.
std::string kept_text(const Advice& advice) {
  if (!advice.after || !*advice.after || !advice.recording) return "";
  const record::Count& before = advice.recording->kept_bytes;
  const record::Count& after = (*advice.after)->kept_bytes;
  constexpr std::uint64_t kNoticeable = std::uint64_t{1} << 20;
  if (!before || !after || *after < *before + std::max(kNoticeable, *before / 10)) return "";
  return fmt::format(
      " Memory stays: a process keeps up to {} until its end, also while it is idle. Without the remedy, a process "
      "keeps {}.",
      format_size(*after), format_size(*before));
}

std::string costs_text(const Advice& advice, const Remedy& remedy, const Confirmation& confirmation, Goal goal) {
  std::vector<std::string> costs;
  for (const Goal other : kGoals) {
    const bool more = other != goal && verdict_of(confirmation, other).interval95.low > 0;
    if (more) costs.push_back(change_text(confirmation, other));
  }
  if (costs.empty()) costs.emplace_back("nothing that was measured became more");
  if (advice.startup_ms) {
    constexpr double kSeen_ms = 0.1;
    costs.push_back(*advice.startup_ms < kSeen_ms
                        ? "under 0.1 ms at the start of each process"
                        : fmt::format("{:.1f} ms at the start of each process", *advice.startup_ms));
  }
  std::string text = fmt::format("{}", fmt::join(costs, "; "));
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  text += "." + kept_text(advice);
  return text + (remedy.costs.empty() ? "" : " In general: " + remedy.costs + ".");
}

/// Formats a remedy's ratio of a few runs, such as "0.99 times".
std::string times_of(const Advice& advice, std::size_t remedy, Goal goal) {
  const Measured<Ratio> ratio = remedy_ratio(advice, remedy, goal);
  return ratio ? format_number(ratio->median) + " times" : "n/a";
}

/// Returns the remedy that takes too much memory or CPU time, with its gain.
OrNull<Alternative> faster_still(const Advice& advice) {
  if (!advice.result.faster_still) return {};
  const std::size_t at = *advice.result.faster_still;
  const Goal goal = advice.request.method.goal;
  const Goal other = price_of(goal);
  const auto ratio = [&](Goal of) {
    const double present = median_figure(advice.result.runs, kPresent, of);
    return median_figure(advice.result.runs, at, of) / std::max(present, 1e-6);
  };
  const Remedy& remedy = advice.catalogue.remedies[at];
  return Alternative{remedy.name, paste_text(remedy),
                     fmt::format("{}, but {} times the {}: {} ({} times the {}, of a few runs).",
                                 advice.result.winner ? "Less still" : "Less", format_number(ratio(other)),
                                 goal_words(other), remedy.name, format_number(ratio(goal)), goal_words(goal)),
                     remedy.source};
}

/// For the goal memory, returns the remedy with the least memory at idle, if that is a tenth less than the
/// recommendation's.
std::optional<Alternative> less_at_idle(const Advice& advice) {
  if (advice.request.method.goal != Goal::kMemory) return {};
  const auto idle = [&](std::size_t at) { return median_figure(advice.result.runs, at, Goal::kIdle); };
  const double present = idle(kPresent);
  double least = 0.9 * std::min(present, idle(advice.result.winner.value_or(kPresent)));
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < advice.result.standings.size(); ++i) {
    const Standing& standing = advice.result.standings[i];
    if (standing.state != Standing::State::kOk || standing.heavy || idle(i) == 0 || idle(i) >= least) continue;
    least = idle(i);
    best = i;
  }
  if (!best) return {};
  const Remedy& remedy = advice.catalogue.remedies[*best];
  return Alternative{remedy.name, paste_text(remedy),
                     fmt::format("The {} falls from {} to {} with {} ({} the peak memory): --goal idle confirms it.",
                                 goal_words(Goal::kIdle), value_text(Goal::kIdle, present),
                                 value_text(Goal::kIdle, least), remedy.name, times_of(advice, *best, Goal::kMemory))};
}

/// Returns the best remedy that keeps the program's own allocator, if the winner uses another allocator.
OrNull<Alternative> without_preload(const Advice& advice) {
  if (advice.frontier) return {};  // the table has all good settings
  const std::vector<Standing>& standings = advice.result.standings;
  if (!advice.catalogue.remedies[*advice.result.winner].preload) return {};
  std::vector<std::pair<double, std::size_t>> found;  // for each remedy: its cost as a multiple of the unchanged
                                                      // program's, and its index
  for (std::size_t i = 0; i < standings.size(); ++i) {
    const Standing& each = standings[i];
    const Remedy& remedy = advice.catalogue.remedies[i];
    if (each.kind != TimeVerdict::Kind::kFaster || each.heavy || each.state != Standing::State::kOk) continue;
    if (!remedy.preload && remedy.env.count("LD_PRELOAD") == 0) found.emplace_back(std::exp(each.score), i);
  }
  std::sort(found.begin(), found.end());
  std::optional<std::size_t> best;
  for (const auto& [cost, i] : found) {
    // Prefers the remedy with the fewest settings among about equally good remedies.
    if (cost > found.front().first + advice.request.method.near) break;
    if (!best || settings(advice.catalogue.remedies[i]) < settings(advice.catalogue.remedies[*best])) best = i;
  }
  if (!best) return {};
  const Remedy& remedy = advice.catalogue.remedies[*best];
  const double ratio = std::exp(standings[*best].score);
  return Alternative{
      remedy.name, paste_text(remedy),
      fmt::format("Without another allocator: {} ({} times the {}, of {}).", paste_text(remedy), format_number(ratio),
                  goal_words(advice.request.method.goal), format_counted(standings[*best].log_ratios.size(), "run"))};
}

std::string nothing_text(const Advice& advice) {
  if (advice.request.method.goal == Goal::kShared) return shared_nothing_text(advice);
  if (advice.nothing_to_gain) {
    return fmt::format("Nothing to gain: zeroing takes {} of the program's CPU time, and no cause of it 1 %.",
                       format_percent(advice.recording->zeroing().value_or(0)));
  }
  if (advice.request.method.brief) {
    const Recorded& recorded = *advice.recording;
    return fmt::format("Nothing helps: the program's own memset is the cost{}: {} of CPU time.{}",
                       recorded.by_hand_at.empty() ? "" : ", most at " + recorded.by_hand_at,
                       format_percent(recorded.share(Cause::kByHand).value_or(0)),
                       recorded.tax.advice_is_for_program ? " " + recorded.tax.advice : "");
  }
  if (advice.frontier && !advice.found.members.empty()) {
    return fmt::format("No setting is recommended: none is proven to take less {} without too much of another metric.",
                       advice.frontier->wanted ? goal_words(*advice.frontier->wanted) : "CPU time or memory");
  }
  if (advice.frontier) return "No setting is proven to take less CPU time or memory.";
  const std::vector<Standing>& standings = advice.result.standings;
  const bool tried = std::any_of(standings.begin(), standings.end(),
                                 [](const Standing& each) { return each.state != Standing::State::kNotTried; });
  const std::string text =
      tried ? "Nothing that was tried helps." : "Nothing was tried: no remedy is known for what the program does.";
  const bool is_known = advice.recording && advice.recording->tax.advice_is_for_program;
  return is_known ? text + " " + advice.recording->tax.advice : text;
}

std::string interrupted_text(const Advice& advice) {
  const std::vector<Standing>& standings = advice.result.standings;
  std::size_t best = standings.size();
  for (std::size_t i = 0; i < standings.size(); ++i) {
    const Standing& each = standings[i];
    if (each.state != Standing::State::kOk || each.heavy || each.log_ratios.empty()) continue;
    if (each.score < -0.05 && (best == standings.size() || each.score < standings[best].score)) best = i;
  }
  if (best == standings.size()) {
    return advice.result.runs.size() > 3 ? "Interrupted: no remedy that was tried so far looks better."
                                         : "Interrupted: nothing is known yet.";
  }
  return fmt::format("Interrupted: nothing is confirmed. So far {} looks best: {} times the {} in {}.",
                     advice.catalogue.remedies[best].name, format_number(std::exp(standings[best].score)),
                     goal_words(advice.request.method.goal), format_counted(standings[best].log_ratios.size(), "run"));
}

/// Returns a warning if the two recorded runs did different amounts of work; empty if the amounts were about the same.
/// A program that notices the remedy, or chance, can cause different amounts. Less work is not a gain of the remedy.
std::string other_work_text(const Advice& advice) {
  constexpr double kFew = 100;
  constexpr double kMostRatio = 2;
  if (!advice.recording || !advice.after || !*advice.after) return "";
  const double before = advice.recording->calls;
  const double after = (*advice.after)->calls;
  if (std::max(before, after) < kFew || std::max(before, after) <= kMostRatio * std::min(before, after)) return "";
  return fmt::format(
      "The recorded runs did not do the same work: {} of malloc's family without the remedy, {} with it. The gain"
      " may be work that was not done. ",
      format_counted(static_cast<std::uint64_t>(before), "call"), format_count(static_cast<std::uint64_t>(after)));
}

/// Returns a sentence that explains why a remedy is recommended although others took less: of about equally good
/// remedies, the simplest is recommended.
std::optional<std::string> why_text(const Advice& advice, std::size_t winner) {
  if (advice.frontier) return std::nullopt;
  const Goal goal = advice.request.method.goal;
  const auto ratio = [&](std::size_t i) {
    const Measured<Ratio> found = remedy_ratio(advice, i, goal);
    return found ? found->median : 1e9;
  };
  std::vector<std::size_t> less;
  std::string unconfirmed;
  for (std::size_t i = 0; i < advice.result.standings.size(); ++i) {
    const Standing& standing = advice.result.standings[i];
    if (standing.state != Standing::State::kOk || standing.heavy || ratio(i) >= ratio(winner)) continue;
    const Confirmation* confirmation = confirmation_of(advice, i);
    if (confirmation != nullptr && i != winner) {
      unconfirmed += fmt::format(" {} took less in its first runs, but {}.", advice.catalogue.remedies[i].name,
                                 confirmation->why_not);
    } else {
      less.push_back(i);
    }
  }
  if (less.empty()) return unconfirmed.empty() ? std::nullopt : std::optional("Reason for this choice:" + unconfirmed);
  std::sort(less.begin(), less.end(), [&](std::size_t a, std::size_t b) { return ratio(a) < ratio(b); });
  return fmt::format(
      "Reason for this choice: {} took less in few runs, {} the least ({} times). The difference is no more than the "
      "noise or {:.0f} % of the unchanged program. The recommended remedy needs fewer settings, less memory, or no "
      "other allocator.{}",
      format_counted(less.size(), "remedy", "remedies"), advice.catalogue.remedies[less.front()].name,
      format_number(ratio(less.front())), 100 * advice.request.method.near, unconfirmed);
}

Recommendation of_winner(const Advice& advice) {
  const std::size_t winner = *advice.result.winner;
  const Remedy& remedy = advice.catalogue.remedies[winner];
  const Confirmation& confirmation = *confirmation_of(advice, winner);
  const Goal goal = advice.request.method.goal;
  Recommendation recommended;
  recommended.kind = AdviceKind::kRemedy;
  recommended.sentence =
      fmt::format("With {} it takes {} times the {}: {}.", remedy.name,
                  format_number(std::exp(verdict_of(confirmation, goal).log_ratio)), goal_words(goal), remedy.words);
  recommended.why = why_text(advice, winner);
  recommended.remedy = remedy.name;
  recommended.source = remedy.source;
  if (const std::string line = paste_text(remedy); !line.empty()) {
    recommended.line = line + " " + command_text(advice.request.target);
  }
  recommended.gains = gains_text(confirmation, goal);
  recommended.costs = other_work_text(advice) + costs_text(advice, remedy, confirmation, goal);
  recommended.recorded = recorded_text(advice);
  if (goal != Goal::kShared && advice.after && *advice.after && (*advice.after)->tax.advice_is_for_program) {
    recommended.for_program =
        "With the remedy, the program itself causes most of the zeroing. " + (*advice.after)->tax.advice;
    recommended.recorded += (recommended.recorded.empty() ? "" : " ") + recommended.for_program;
  }
  recommended.without_preload = without_preload(advice);
  return recommended;
}

}  // namespace

std::string change_text(const Confirmation& confirmation, Goal goal) {
  const TimeVerdict& verdict = verdict_of(confirmation, goal);
  const char* const name = goal_words(goal, confirmation.present.front());
  return fmt::format("{} {} -> {} ({})", name, value_text(goal, median(figures(confirmation.present, goal))),
                     value_text(goal, median(figures(confirmation.remedy, goal))), words_of(ratio_of(verdict)));
}

const Confirmation* confirmation_of(const Advice& advice, std::size_t remedy) {
  for (const Confirmation& each : advice.result.confirmations) {
    if (each.candidate == remedy) return &each;
  }
  return nullptr;
}

std::string remedy_verdict(const Advice& advice, std::size_t remedy) {
  if (remedy >= advice.result.standings.size()) return "";
  const Standing& standing = advice.result.standings[remedy];
  if (standing.state == Standing::State::kNotTried) return "";
  if (standing.state == Standing::State::kFailed) return "BREAKS";
  if (standing.state == Standing::State::kMoreMemory) return "MORE MEMORY";
  if (standing.state == Standing::State::kChangedOutput) return "CHANGED OUTPUT";
  const Goal goal = advice.request.method.goal;
  const Confirmation* confirmation = confirmation_of(advice, remedy);
  const bool judged = confirmation != nullptr && !confirmation->verdicts.empty();
  return kind_word(judged ? verdict_of(*confirmation, goal).kind : standing.kind, goal);
}

/// Returns the reason why a remedy has no memory at idle.
static std::string why_no_idle(const Advice& advice, std::size_t remedy) {
  std::string why = "no run with the remedy succeeded";
  for (const SearchRun& run : advice.result.runs) {
    if (run.trial.end != Trial::End::kOk || (run.candidate != kPresent && run.candidate != remedy)) continue;
    if (!run.trial.figures.idle_bytes) why = run.trial.figures.idle_bytes.why();
  }
  return why;
}

Measured<Ratio> remedy_ratio(const Advice& advice, std::size_t remedy, Goal goal) {
  if (goal == Goal::kShared && advice.request.method.goal != goal) return {};
  const Confirmation* confirmation = confirmation_of(advice, remedy);
  if (confirmation != nullptr && !confirmation->verdicts.empty()) {
    const TimeVerdict& verdict = verdict_of(*confirmation, goal);
    const TimeRatio ratio = ratio_of(verdict);
    // With few measured pairs, the interval is infinite or empty. Other runs may have the metric.
    const bool known =
        (goal != Goal::kIdle && goal != Goal::kShared) || verdict.interval95.low != 0 || verdict.interval95.high != 0;
    if (known && std::isfinite(ratio.high)) return Ratio{ratio.median, ratio.low, ratio.high};
  }
  const auto ratios = ratios_to_neighbours(advice.result.runs, advice.catalogue.remedies.size(), goal);
  if (ratios[remedy].empty()) {
    return NotAvailable{goal == Goal::kIdle ? why_no_idle(advice, remedy) : "no run with the remedy succeeded"};
  }
  return Ratio{std::exp(median(ratios[remedy])), {}, {}};
}

Recommendation recommendation(const Advice& advice) {
  Recommendation recommended;
  if (advice.result.winner) {
    recommended = of_winner(advice);
  } else {
    recommended.kind = !advice.complete         ? AdviceKind::kUnknown
                       : advice.nothing_to_gain ? AdviceKind::kNothingToGain
                                                : AdviceKind::kNothingHelps;
    recommended.sentence = advice.complete ? nothing_text(advice) : interrupted_text(advice);
    const bool about_zeroing = advice.request.method.goal != Goal::kShared;
    if (about_zeroing && advice.recording && advice.recording->tax.advice_is_for_program) {
      recommended.for_program = advice.recording->tax.advice;
    }
  }
  if (advice.result.winner || advice.complete) {
    recommended.faster_still = faster_still(advice);
    recommended.less_at_idle = less_at_idle(advice);
  }
  return recommended;
}

}  // namespace zerotax::advise
