#include "advise/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "advise/estimates.h"
#include "base/bootstrap.h"
#include "base/shell.h"
#include "base/units.h"

namespace zerotax::advise {
namespace {

const char* goal_words(Goal goal) {
  constexpr const char* kWords[] = {"CPU time", "wall time", "page faults", "peak memory"};
  return kWords[static_cast<std::size_t>(goal)];
}

std::string value_text(Goal goal, double value) {
  if (goal == Goal::kFaults) return format_count(static_cast<std::uint64_t>(value));
  if (goal == Goal::kMemory) return format_size(static_cast<std::uint64_t>(value));
  return format_ns(value * 1e9);
}

std::string kind_word(TimeVerdict::Kind kind, Goal goal) {
  const bool time = goal == Goal::kCpu || goal == Goal::kWall;
  switch (kind) {
    case TimeVerdict::Kind::kFaster:
      return time ? "FASTER" : "LESS";
    case TimeVerdict::Kind::kSlower:
      return time ? "SLOWER" : "MORE";
    case TimeVerdict::Kind::kSame:
      return "SAME";
    default:
      return "AMBIGUOUS";
  }
}

std::vector<double> figures(const std::vector<Figures>& runs, Goal goal) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const Figures& run : runs) values.push_back(figure_of(run, goal));
  return values;
}

/// "CPU time 910 ms -> 180 ms (0.20 times; 0.19 to 0.21)", of a confirmation.
std::string change_text(const Confirmation& confirmation, Goal goal) {
  const TimeVerdict& verdict = confirmation.verdicts[static_cast<std::size_t>(goal)];
  return fmt::format("{} {} -> {} ({} times; {} to {})", goal_words(goal),
                     value_text(goal, median(figures(confirmation.present, goal))),
                     value_text(goal, median(figures(confirmation.remedy, goal))),
                     format_number(std::exp(verdict.log_ratio)), format_number(std::exp(verdict.interval95.low)),
                     format_number(std::exp(verdict.interval95.high)));
}

bool is_less(const TimeVerdict& verdict) { return verdict.interval95.high < 0; }
bool is_more(const TimeVerdict& verdict) { return verdict.interval95.low > 0; }

std::string gains_text(const Confirmation& confirmation, Goal goal) {
  std::string text = change_text(confirmation, goal);
  for (const Goal other : kGoals) {
    if (other == goal || !is_less(confirmation.verdicts[static_cast<std::size_t>(other)])) continue;
    text += "; " + change_text(confirmation, other);
  }
  return text + ".";
}

/// What the two recordings say, as that is exact where times are not; what one of them lacks is left out.
std::string recorded_text(const Advice& advice) {
  if (!advice.after || !advice.after->why_not.empty() || !advice.recording.why_not.empty()) return "";
  constexpr std::pair<const char*, const char*> kFigures[] = {{"kernel_zeroed_bytes", "kernel-zeroed"},
                                                              {"refilled_bytes", "refilled"},
                                                              {"zeroed_bytes", "zeroed by the allocator"}};
  std::vector<std::string> changes;
  for (const auto& [key, words] : kFigures) {
    const Json& before = advice.recording.totals.at(key);
    const Json& after = advice.after->totals.at(key);
    if (!before.is_number() || !after.is_number()) continue;
    changes.push_back(fmt::format("{} {} -> {}", words, format_size(before.get<std::uint64_t>()),
                                  format_size(after.get<std::uint64_t>())));
  }
  return changes.empty() ? "" : fmt::format("Recorded: {}.", fmt::join(changes, ", "));
}

std::string costs_text(const Advice& advice, const Remedy& remedy, const Confirmation& confirmation, Goal goal) {
  std::vector<std::string> costs;
  for (const Goal other : kGoals) {
    if (other == goal) continue;
    const TimeVerdict& verdict = confirmation.verdicts[static_cast<std::size_t>(other)];
    if (is_more(verdict)) costs.push_back(change_text(confirmation, other));
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
  return text + (remedy.costs.empty() ? "." : ". In general: " + remedy.costs + ".");
}

/// The remedy that takes more than it may, and what it would gain.
Json faster_still(const Advice& advice) {
  if (!advice.result.faster_still) return nullptr;
  const std::size_t at = *advice.result.faster_still;
  const Goal goal = advice.request.method.goal;
  const Goal other = goal == Goal::kMemory ? Goal::kCpu : Goal::kMemory;
  const auto ratio = [&](Goal of) {
    const double present = median_figure(advice.result.runs, kPresent, of);
    return median_figure(advice.result.runs, at, of) / std::max(present, 1e-6);
  };
  Json json;
  json["remedy"] = advice.catalogue.remedies[at].name;
  json["line"] = paste_text(advice.catalogue.remedies[at]);
  json["sentence"] =
      fmt::format("{}, but {} times the {}: {} ({} times the {}, of a few runs).",
                  advice.result.winner ? "Less still" : "Less", format_number(ratio(other)), goal_words(other),
                  advice.catalogue.remedies[at].name, format_number(ratio(goal)), goal_words(goal));
  return json;
}

/// What is best without another allocator, where the winner brings one.
Json without_preload(const Advice& advice) {
  const std::vector<Standing>& standings = advice.result.standings;
  if (advice.catalogue.remedies[*advice.result.winner].preload.empty()) return nullptr;
  std::vector<std::pair<double, std::size_t>> found;  // its share of what the program costs now
  for (std::size_t i = 0; i < standings.size(); ++i) {
    const Standing& each = standings[i];
    const Remedy& remedy = advice.catalogue.remedies[i];
    if (each.kind != TimeVerdict::Kind::kFaster || each.heavy || each.state != Standing::State::kOk) continue;
    if (remedy.preload.empty() && !remedy.env.contains("LD_PRELOAD")) found.emplace_back(std::exp(each.score), i);
  }
  std::sort(found.begin(), found.end());
  std::optional<std::size_t> best;
  for (const auto& [cost, i] : found) {
    // Of those that are about as good, the shortest.
    if (cost > found.front().first + advice.request.method.near) break;
    if (!best || settings(advice.catalogue.remedies[i]) < settings(advice.catalogue.remedies[*best])) best = i;
  }
  if (!best) return nullptr;
  const Remedy& remedy = advice.catalogue.remedies[*best];
  const double ratio = std::exp(standings[*best].score);
  Json json;
  json["remedy"] = remedy.name;
  json["line"] = paste_text(remedy);
  json["sentence"] =
      fmt::format("Without another allocator: {} ({} times the {}, of {}).", paste_text(remedy), format_number(ratio),
                  goal_words(advice.request.method.goal), format_counted(standings[*best].log_ratios.size(), "run"));
  return json;
}

std::string percent_of_cpu(const Recording& recording, const char* cause) {
  return format_percent(recording.share(cause).value_or(0)) + " of CPU time";
}

std::string nothing_text(const Advice& advice) {
  const Recording& recording = advice.recording;
  if (advice.nothing_to_gain) {
    return fmt::format("Nothing to gain: zeroing takes {} of the program's CPU time, and no cause of it 1 %.",
                       format_percent(recording.zeroing().value_or(0)));
  }
  if (advice.request.method.brief) {
    return fmt::format("Nothing helps: the program's own memset is the cost{}: {}.",
                       recording.by_hand.empty() ? "" : ", most at " + recording.by_hand,
                       percent_of_cpu(recording, "by_hand"));
  }
  return "Nothing that was tried helps.";
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
    return advice.result.runs.size() > 3 ? "Interrupted: nothing that was tried so far looks better."
                                         : "Interrupted: nothing is known yet.";
  }
  return fmt::format("Interrupted: nothing is confirmed. So far {} looks best: {} times the {} in {}.",
                     advice.catalogue.remedies[best].name, format_number(std::exp(standings[best].score)),
                     goal_words(advice.request.method.goal), format_counted(standings[best].log_ratios.size(), "run"));
}

Json of_winner(const Advice& advice) {
  const std::size_t winner = *advice.result.winner;
  const Remedy& remedy = advice.catalogue.remedies[winner];
  const Confirmation& confirmation = *confirmation_of(advice, winner);
  const Goal goal = advice.request.method.goal;
  const TimeVerdict& verdict = confirmation.verdicts[static_cast<std::size_t>(goal)];
  Json json;
  json["kind"] = "remedy";
  json["sentence"] = fmt::format("With {} it takes {} times the {}: {}.", remedy.name,
                                 format_number(std::exp(verdict.log_ratio)), goal_words(goal), remedy.words);
  json["remedy"] = remedy.name;
  json["line"] = paste_text(remedy) + " " + shell_text(advice.request.target.words);
  json["gains"] = gains_text(confirmation, goal);
  json["costs"] = costs_text(advice, remedy, confirmation, goal);
  json["recorded"] = recorded_text(advice);
  return json;
}

}  // namespace

const Confirmation* confirmation_of(const Advice& advice, std::size_t remedy) {
  for (const Confirmation& each : advice.result.confirmations) {
    if (each.candidate == remedy) return &each;
  }
  return nullptr;
}

std::string remedy_verdict(const Advice& advice, std::size_t remedy) {
  if (remedy >= advice.result.standings.size()) return "";
  const Standing& standing = advice.result.standings[remedy];
  switch (standing.state) {
    case Standing::State::kNotTried:
      return "";
    case Standing::State::kFailed:
      return "FAILED";
    case Standing::State::kChangedOutput:
      return "CHANGED OUTPUT";
    case Standing::State::kOk:
      break;
  }
  const Goal goal = advice.request.method.goal;
  const Confirmation* confirmation = confirmation_of(advice, remedy);
  if (confirmation == nullptr || confirmation->verdicts.empty()) return kind_word(standing.kind, goal);
  return kind_word(confirmation->verdicts[static_cast<std::size_t>(goal)].kind, goal);
}

Json remedy_ratio(const Advice& advice, std::size_t remedy, Goal goal) {
  const Confirmation* confirmation = confirmation_of(advice, remedy);
  if (confirmation != nullptr && !confirmation->verdicts.empty()) {
    const TimeVerdict& verdict = confirmation->verdicts[static_cast<std::size_t>(goal)];
    return {{"median", std::exp(verdict.log_ratio)},
            {"low", std::exp(verdict.interval95.low)},
            {"high", std::exp(verdict.interval95.high)}};
  }
  const auto ratios = ratios_to_neighbours(advice.result.runs, advice.catalogue.remedies.size(), goal);
  if (ratios[remedy].empty()) return not_available("no run of it ended well");
  return {{"median", std::exp(median(ratios[remedy]))}};
}

Json recommendation(const Advice& advice) {
  if (advice.result.winner) {
    Json json = of_winner(advice);
    json["faster_still"] = faster_still(advice);
    json["without_preload"] = without_preload(advice);
    return json;
  }
  Json json;
  json["kind"] = !advice.complete ? "unknown" : advice.nothing_to_gain ? "nothing_to_gain" : "nothing_helps";
  json["sentence"] = advice.complete ? nothing_text(advice) : interrupted_text(advice);
  json["remedy"] = nullptr;
  json["line"] = nullptr;
  json["gains"] = "";
  json["costs"] = "";
  json["recorded"] = "";
  json["faster_still"] = advice.complete ? faster_still(advice) : Json(nullptr);
  json["without_preload"] = nullptr;
  return json;
}

}  // namespace zerotax::advise
