#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "advise/advice.h"
#include "advise/estimates.h"
#include "base/lines.h"
#include "base/units.h"

namespace zerotax::advise {
namespace {

/// Smallest relative change that a sentence names.
constexpr double kNamed = 0.02;
/// With this width, a row of the table has at most 80 columns.
constexpr std::size_t kWidestName = 38;

Figures medians(const Advice& advice, std::size_t candidate) {
  Figures figures;
  const auto figure = [&](Goal goal) { return median_figure(advice.result.runs, candidate, goal); };
  figures.cpu_s = figure(Goal::kCpu);
  figures.wall_s = figure(Goal::kWall);
  figures.faults = figure(Goal::kFaults);
  figures.peak_bytes = figure(Goal::kMemory);
  for (const SearchRun& run : advice.result.runs) {
    if (run.candidate != candidate || run.trial.end != Trial::End::kOk) continue;
    figures.idle_bytes = run.trial.figures.idle_bytes;
    if (!figures.idle_bytes) continue;
    figures.idle_bytes = figure(Goal::kIdle);
    figures.idle_measure = run.trial.figures.idle_measure;
    break;
  }
  return figures;
}

/// Returns a sentence about one of the variables of a joint setting alone.
PartAloneFound part_alone(const Advice& advice, const PartAlone& part) {
  const Goal steer = advice.found.steer;
  const Measured<Ratio> ratio = remedy_ratio(advice, part.candidate, steer);
  const Measured<Ratio> joint = remedy_ratio(advice, part.joint, steer);
  const std::string line = paste_text(advice.catalogue.remedies[part.candidate]);
  PartAloneFound found;
  found.harms = ratio && ratio->median > 1 + advice.request.method.band;
  found.sentence =
      fmt::format("{} alone {} {} times the {} (with {}: {}).", line, found.harms ? "harms:" : "takes",
                  ratio_text(ratio), goal_words(steer), advice.catalogue.remedies[part.joint].name, ratio_text(joint));
  return found;
}

FrontierMember member_of(const Advice& advice, std::size_t candidate) {
  FrontierMember member;
  member.figures = medians(advice, candidate);
  if (candidate == kPresent) return member;
  const Remedy& remedy = advice.catalogue.remedies[candidate];
  member.remedy = remedy.name;
  member.line = paste_text(remedy);
  member.ratios.emplace();
  std::vector<std::string> buys;
  std::vector<std::string> pays;
  const Confirmation* pairs = confirmation_of(advice, candidate);
  for (const Goal goal : kGoals) {
    ratio_for(*member.ratios, goal) = remedy_ratio(advice, candidate, goal);
    if (goal == Goal::kWall || pairs == nullptr || pairs->verdicts.empty()) continue;
    const TimeVerdict& verdict = verdict_of(*pairs, goal);
    if (verdict.interval95.high < 0 && verdict.log_ratio < -kNamed) buys.push_back(change_text(*pairs, goal));
    if (verdict.interval95.low > 0 && verdict.log_ratio > kNamed) pays.push_back(change_text(*pairs, goal));
  }
  member.buys = fmt::format("{}", fmt::join(buys, "; "));
  member.pays = fmt::format("{}", fmt::join(pays, "; "));
  member.is_knee = advice.result.winner == candidate;
  for (const auto& [goal, knee] : advice.found.knees) {
    if (knee == candidate) member.best_for.push_back(goal);
  }
  return member;
}

LeverTried lever_tried(const Advice& advice, std::size_t at) {
  const ChosenLever& lever = advice.levers[at];
  LeverTried tried;
  tried.name = lever.name;
  tried.more = lever.more;
  for (const std::size_t candidate : lever.axis.candidates) {
    if (advice.result.standings[candidate].state == Standing::State::kNotTried) continue;
    tried.remedies.push_back(advice.catalogue.remedies[candidate].name);
  }
  for (const SufficientValue& each : advice.found.sufficient) {
    if (each.axis != at) continue;
    const Measured<Ratio> ratio = remedy_ratio(advice, each.candidate, each.goal);
    if (!ratio || ratio->median > 1 - advice.request.method.band) continue;  // the rounds did not confirm the gain
    tried.sufficient.push_back(fmt::format("{} keeps {:.0f} % of the gain: {} times the {}.",
                                           advice.catalogue.remedies[each.candidate].name, 100 * kKept,
                                           ratio_text(ratio), goal_words(each.goal)));
  }
  for (const PartAlone& each : advice.found.alone) {
    if (each.axis == at) tried.alone.push_back(part_alone(advice, each));
  }
  return tried;
}

std::string rule_of(const Advice& advice) {
  const Goal goal = advice.found.goal;
  const char* const price = is_memory(goal) ? goal_words(Goal::kCpu) : "memory";
  return fmt::format(
      "The recommended setting takes the least {} of the settings that keep {:.0f} % of the best gain in {}.", price,
      100 * kKept, goal_words(goal));
}

}  // namespace

FrontierFound frontier_found(const Advice& advice) {
  FrontierFound found;
  found.steer = advice.found.steer;
  if (advice.frontier->most_extra_bytes) found.most_extra_bytes = *advice.frontier->most_extra_bytes;
  if (advice.frontier->wanted) found.wanted = *advice.frontier->wanted;
  if (advice.result.winner) found.rule = rule_of(advice);
  for (const std::size_t member : advice.found.members) found.members.push_back(member_of(advice, member));
  FrontierMember today = member_of(advice, kPresent);
  const auto costs = [&](const FrontierMember& member) { return figure_of(member.figures, found.steer); };
  const auto place = std::find_if(found.members.begin(), found.members.end(),
                                  [&](const FrontierMember& each) { return costs(each) > costs(today); });
  found.members.insert(place, std::move(today));
  for (std::size_t at = 0; at < advice.levers.size(); ++at) found.levers.push_back(lever_tried(advice, at));
  for (const std::size_t each : advice.found.left_out) found.left_out.push_back(advice.catalogue.remedies[each].name);
  return found;
}

Table frontier_table(const FrontierFound& frontier) {
  const bool mean = frontier.members.front().figures.idle_measure == IdleMeasure::kMean;
  Table table({{"setting (*: recommended)", Unit::kText, 34},
               right_text("CPU", 8),
               right_text("faults", 9),
               right_text(mean ? "mean" : "idle", 8),
               right_text("peak", 8)});
  for (const FrontierMember& member : frontier.members) {
    const std::string name = first_characters(member.remedy.value_or("today: unchanged"), kWidestName);
    std::vector<Cell> cells{(member.is_knee ? "* " : "  ") + name};
    for (const Goal goal : {Goal::kCpu, Goal::kFaults, Goal::kIdle, Goal::kMemory}) {
      const auto value = figure_of(member.figures, goal);
      cells.emplace_back(value ? Cell(value_text(goal, *value)) : Cell::not_available());
    }
    table.add(std::move(cells));
  }
  return table;
}

std::string frontier_text(const FrontierFound& frontier) {
  std::string text = "\n" + frontier_table(frontier).text();
  if (!frontier.rule.empty()) text += "\n" + wrap(frontier.rule);
  for (const FrontierMember& member : frontier.members) {
    if (!member.remedy) continue;
    text += "\n" + *member.remedy + "\n  " + member.line + "\n";
    text += wrap("buys: " + (member.buys.empty() ? "nothing that is proven" : member.buys), "  ", "    ");
    text += wrap("pays: " + (member.pays.empty() ? "nothing that is proven" : member.pays), "  ", "    ");
  }
  text += "\nLevers:\n";
  for (const LeverTried& lever : frontier.levers) {
    text += wrap(
        fmt::format("{}, {} tried; more: {}", lever.name, format_counted(lever.remedies.size(), "value"), lever.more),
        "  ", "    ");
    for (const std::string& sentence : lever.sufficient) text += wrap(sentence, "    ", "    ");
    for (const PartAloneFound& part : lever.alone) text += wrap(part.sentence, "    ", "    ");
  }
  if (!frontier.left_out.empty()) {
    text += wrap(fmt::format("Left out, because the time was over: {}.", fmt::join(frontier.left_out, "; ")));
  }
  return text;
}

std::string frontier_plot(const AdviceResult& advice, const PlotStyle& style) {
  if (!advice.frontier) return "";
  std::vector<PlotLine> lines;
  for (const FrontierMember& member : advice.frontier->members) {
    const double bytes = member.figures.idle_bytes.value_or(member.figures.peak_bytes);
    lines.push_back(
        {(member.is_knee ? "* " : "") + member.remedy.value_or("today"), {{{bytes, member.figures.cpu_s * 1e9}}}});
  }
  const Figures& first = advice.frontier->members.front().figures;
  const char* const memory = first.idle_bytes ? goal_words(Goal::kIdle, first) : goal_words(Goal::kMemory);
  return line_plot("CPU time over memory", memory, goal_words(Goal::kCpu), lines, style);
}

}  // namespace zerotax::advise
