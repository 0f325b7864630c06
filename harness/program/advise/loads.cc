#include "advise/loads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "base/lines.h"
#include "base/shell.h"

namespace zerotax::advise {
namespace {

constexpr std::size_t kWidestRemedy = 46;

/// Whether a remedy is proven to help under a load.
bool helps_under(const LoadResult& load, const std::string& name) {
  return load.recommendation.kind == AdviceKind::kRemedy && load.recommendation.remedy == name;
}

/// Whether the runs under a load show no harm of a remedy.
bool is_harmless_under(const LoadResult& load, const std::string& name, const SearchMethod& method) {
  const TriedRemedy* remedy = find_remedy(load.remedies, name);
  if (remedy == nullptr || !ended_well(*remedy) || remedy->heavy) return false;
  const Measured<Ratio>& ratio = ratio_for(remedy->ratios, method.goal);
  // A few runs may leave the verdict open. A small program's page faults, for example, differ by some percent.
  return remedy->verdict != "SLOWER" && remedy->verdict != "MORE" && ratio && ratio->median <= method.other_ratio;
}

/// Returns the ratios of a remedy under each load, as in "0.27 times under load 1 (FASTER), n/a under load 2".
std::string loads_ratios(const std::vector<LoadResult>& loads, const std::string& name, Goal goal) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const TriedRemedy* remedy = find_remedy(loads[i].remedies, name);
    parts.push_back(remedy == nullptr
                        ? fmt::format("not tried under load {}", i + 1)
                        : fmt::format("{} times under load {} ({}, {})", ratio_text(ratio_for(remedy->ratios, goal)),
                                      i + 1, remedy->verdict, helps_under(loads[i], name) ? "confirmed" : "few runs"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// A remedy that helps under one load at least and shows no harm under any load. Remedies are ordered by their mean
/// ratio, in steps of `near`, and then by the number of settings.
struct HoldingRemedy {
  double mean;
  const TriedRemedy* remedy;
};

void judge_loads(LoadsResult& loads, const SearchMethod& method) {
  std::vector<HoldingRemedy> holding;
  std::vector<std::string> helping;
  for (const LoadResult& load : loads.each) {
    if (load.recommendation.kind != AdviceKind::kRemedy) continue;
    const std::string& name = *load.recommendation.remedy;
    if (std::find(helping.begin(), helping.end(), name) == helping.end()) helping.push_back(name);
    const auto is_harmless = [&](const LoadResult& each) { return is_harmless_under(each, name, method); };
    if (!std::all_of(loads.each.begin(), loads.each.end(), is_harmless)) continue;
    double sum = 0;
    for (const LoadResult& each : loads.each)
      sum += ratio_for(find_remedy(each.remedies, name)->ratios, method.goal)->median;
    holding.push_back({sum / static_cast<double>(loads.each.size()), find_remedy(load.remedies, name)});
  }
  if (!holding.empty()) {
    const auto by_mean = [](const HoldingRemedy& a, const HoldingRemedy& b) { return a.mean < b.mean; };
    const double least = std::min_element(holding.begin(), holding.end(), by_mean)->mean;
    const auto rank = [&](const HoldingRemedy& each) {
      const bool is_near = each.mean <= least + method.near;
      return std::tuple(!is_near, is_near ? settings(*each.remedy) : 0, each.mean);
    };
    const auto best = std::min_element(holding.begin(), holding.end(),
                                       [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    loads.remedy = best->remedy->name;
    if (!best->remedy->line.empty()) loads.line = best->remedy->line;
  }
  if (loads.remedy) {
    loads.sentence =
        fmt::format("{} helps, and does no harm under any of the {} loads: {} {}.", *loads.remedy, loads.each.size(),
                    goal_words(method.goal), loads_ratios(loads.each, *loads.remedy, method.goal));
  } else if (helping.empty()) {
    loads.sentence = fmt::format("No remedy is confirmed to help under any of the {} loads.", loads.each.size());
  } else {
    std::vector<std::string> parts;
    parts.reserve(helping.size());
    for (const std::string& name : helping) {
      parts.push_back(
          fmt::format("{}: {} {}", name, goal_words(method.goal), loads_ratios(loads.each, name, method.goal)));
    }
    loads.sentence =
        fmt::format("No remedy that helps under one load is harmless under all: {}.", fmt::join(parts, "; "));
  }
}

/// Returns the ratios of all remedies that helped or harmed, with a column for each load.
Table loads_table(const AdviceResult& advice, bool all) {
  std::vector<Column> columns{{"remedy", Unit::kText, 30}};
  const std::vector<LoadResult>& loads = advice.loads->each;
  for (std::size_t i = 0; i < loads.size(); ++i) columns.push_back(right_text(fmt::format("load {}", i + 1), 8));
  Table table(std::move(columns));
  for (const TriedRemedy& remedy : sorted_remedies(advice)) {
    const auto is_of_interest = [&](const LoadResult& load) { return helps_under(load, remedy.name); };
    if (!all && remedy.name != advice.loads->remedy.value_or("") &&
        std::none_of(loads.begin(), loads.end(), is_of_interest)) {
      continue;
    }
    std::vector<Cell> cells{first_characters(remedy.name, kWidestRemedy)};
    for (const LoadResult& load : loads) {
      const TriedRemedy* here = find_remedy(load.remedies, remedy.name);
      cells.emplace_back(here == nullptr      ? "-"
                         : !ended_well(*here) ? here->verdict
                                              : ratio_text(ratio_for(here->ratios, advice.method.goal)));
    }
    table.add(std::move(cells));
  }
  return table;
}

std::string loads_legend(const AdviceResult& advice) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < advice.loads->each.size(); ++i) {
    parts.push_back(fmt::format("load {}: {}", i + 1, one_line(advice.loads->each[i].load)));
  }
  return fmt::format("Ratios of the {} to the unchanged program; {}.", goal_words(advice.method.goal),
                     fmt::join(parts, "; "));
}

}  // namespace

AdviceResult advise_under(Request request, const std::vector<std::string>& loads) {
  request.all = request.all || loads.size() > 1;
  if (!loads.empty()) request.target.load = loads.front();
  AdviceResult result = advice_result(advise(request));
  if (loads.size() < 2) return result;
  LoadsResult under;
  under.each.push_back({loads.front(), result.recommendation, result.present, result.remedies});
  for (std::size_t i = 1; i < loads.size() && result.complete; ++i) {
    request.target.load = loads[i];
    const AdviceResult next = advice_result(advise(request));
    under.each.push_back({loads[i], next.recommendation, next.present, next.remedies});
    result.complete = next.complete;
  }
  judge_loads(under, result.method);
  result.loads = std::move(under);
  return result;
}

Answer loads_answer(const AdviceResult& advice) {
  Answer answer{.headline = advice.loads->sentence, .legend = loads_legend(advice)};
  if (Table table = loads_table(advice, false); !table.empty()) answer.table = std::move(table);
  const TriedRemedy* const holds = find_remedy(advice.remedies, advice.loads->remedy.value_or(""));
  if (holds != nullptr && !holds->source.empty()) answer.steps.push_back({holds->source, "write before the forks:"});
  if (!advice.loads->line.value_or("").empty()) {
    answer.steps.push_back({*advice.loads->line + " " + shell_text(advice.program.words)});
  }
  for (std::size_t i = 0; i < advice.loads->each.size(); ++i) {
    const LoadResult& load = advice.loads->each[i];
    if (!advice.loads->remedy)
      answer.steps.push_back({"", fmt::format("Load {}: {}", i + 1, load.recommendation.sentence)});
    if (!load.recommendation.costs.empty() && helps_under(load, advice.loads->remedy.value_or(""))) {
      answer.warnings.push_back(fmt::format("Costs under load {}: {}", i + 1, load.recommendation.costs));
    }
  }
  if (!advice.complete) answer.warnings.emplace_back("The search was interrupted before its end.");
  answer.more = "All remedies under each load, and all costs";
  return answer;
}

std::string loads_text(const AdviceResult& advice) {
  std::string text = wrap(advice.loads->sentence);
  const TriedRemedy* const holds = find_remedy(advice.remedies, advice.loads->remedy.value_or(""));
  if (holds != nullptr && !holds->source.empty()) text += "\nWrite before the forks:\n" + holds->source + "\n";
  if (!advice.loads->line.value_or("").empty()) {
    text += "\n" + *advice.loads->line + " " + shell_text(advice.program.words) + "\n";
  }
  text += "\n" + loads_table(advice, true).text() + wrap(loads_legend(advice));
  for (std::size_t i = 0; i < advice.loads->each.size(); ++i) {
    const Recommendation& recommended = advice.loads->each[i].recommendation;
    text += "\n" + wrap(fmt::format("Load {}: {} {} {}", i + 1, recommended.sentence, recommended.gains,
                                    recommended.costs.empty() ? "" : "Costs: " + recommended.costs));
  }
  return text;
}

}  // namespace zerotax::advise
