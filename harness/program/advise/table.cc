#include "base/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "advise/result.h"
#include "base/lines.h"
#include "base/units.h"

namespace zerotax::advise {
namespace {

std::string note_of(const TriedRemedy& row) {
  if (!row.reason.empty()) return row.reason;
  return row.heavy ? "too heavy to be recommended" : "";
}

/// Returns the goals whose metrics are columns of the table.
std::vector<Goal> goals_of(const AdviceResult& advice) {
  std::vector<Goal> goals{Goal::kCpu, Goal::kWall, Goal::kFaults, Goal::kMemory};
  if (is_about_sharing(advice)) {
    goals.push_back(Goal::kShared);
  } else if (has_idle(advice)) {
    goals.push_back(Goal::kIdle);
  }
  return goals;
}

/// Makes a table of the given columns and one column for each metric.
Table table_of(std::vector<Column> columns, const std::vector<Goal>& goals) {
  constexpr std::pair<const char*, std::size_t> kFigures[] = {{"CPU", 7},  {"wall", 7}, {"faults", 7},
                                                              {"peak", 6}, {"idle", 7}, {"copied", 7}};
  for (const Goal goal : goals) {
    const auto& [name, width] = kFigures[static_cast<std::size_t>(goal)];
    columns.push_back(right_text(name, width));
  }
  columns.push_back({"runs", Unit::kCount, 4});
  return Table(std::move(columns));
}
void add(Table& table, std::vector<Cell> cells, const TriedRemedy& row, const std::vector<Goal>& goals) {
  for (const Goal goal : goals) cells.emplace_back(ratio_text(ratio_for(row.ratios, goal)));
  cells.emplace_back(row.runs);
  table.add(std::move(cells));
}

std::string tried_text(const AdviceResult& advice) {
  const std::vector<Goal> goals = goals_of(advice);
  const bool narrow = goals.size() > 4;
  const std::size_t width = narrow ? 21 : 29;
  Table table = table_of(
      {{narrow ? "tried, with ratios" : "tried: ratio to unchanged", Unit::kText, width}, {"verdict", Unit::kText, 14}},
      goals);
  for (const TriedRemedy& row : sorted_remedies(advice)) {
    const bool fits = row.name.size() <= width;
    if (!fits) table.note(row.name);
    add(table, {fits ? row.name : "", row.verdict}, row, goals);
    if (!row.source.empty()) table.note("    " + row.source);
    if (const std::string note = note_of(row); !note.empty()) table.note(wrap(note, "    ", "    "));
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string tried_markdown(const AdviceResult& advice) {
  const std::vector<Goal> goals = goals_of(advice);
  Table table = table_of({{"tried"}, {"settings"}, {"verdict"}}, goals);
  for (const TriedRemedy& row : sorted_remedies(advice)) {
    const std::string note = note_of(row);
    const std::string settings = row.line + (row.line.empty() || row.source.empty() ? "" : " ") + row.source;
    add(table, {row.name, Cell::code(settings), row.verdict + (note.empty() ? "" : ": " + note)}, row, goals);
  }
  return table.empty() ? "" : "\n" + table.markdown();
}

/// Groups the names of remedies by reason. Reasons keep the order of the document.
std::vector<std::pair<std::string, std::string>> by_reason(const std::vector<NotTried>& rows) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const NotTried& row : rows) {
    const auto found =
        std::find_if(reasons.begin(), reasons.end(), [&](const auto& each) { return each.first == row.why; });
    if (found == reasons.end()) {
      reasons.emplace_back(row.why, row.name);
    } else {
      found->second += "; " + row.name;
    }
  }
  return reasons;
}

std::string figures_sentence(const Measured<Figures>& figures) {
  if (!figures) return "";
  const std::string idle = figures->idle_bytes ? fmt::format(", {} {}", goal_words(Goal::kIdle, *figures),
                                                             value_text(Goal::kIdle, *figures->idle_bytes))
                                               : "";
  const std::string text =
      fmt::format("The program as it is: {} of CPU time, {} of wall time, {} page faults, peak memory {}{}.",
                  format_ns(figures->cpu_s * 1e9), format_ns(figures->wall_s * 1e9),
                  format_count(static_cast<std::uint64_t>(figures->faults)),
                  format_size(static_cast<std::uint64_t>(figures->peak_bytes)), idle);
  return figures->copies ? text + " " + copies_text(*figures->copies) : text;
}

/// Returns sentences about how remedies were confirmed, and about the noise.
std::string method_sentence(const AdviceResult& advice) {
  std::string text;
  for (const ConfirmedRemedy& each : advice.confirmations) {
    text += fmt::format("{}: {}, each right after the other: {}. ", each.remedy,
                        format_counted(each.pairs.size(), "pair", "pairs of runs"),
                        each.confirmed         ? "confirmed"
                        : each.why_not.empty() ? "not finished"
                                               : each.why_not);
  }
  if (advice.remedies.empty()) return text;
  return text + fmt::format(
                    "A remedy without effect is recommended in at most {:.1f} % of cases. Runs of the program "
                    "as it is differ by {:.1f} % (standard deviation); verdicts that were not confirmed are of a "
                    "few runs each.",
                    100 * advice.method.alpha, 100 * advice.method.noise);
}

std::vector<std::string> sentences(const AdviceResult& advice) {
  const Recommendation& recommended = advice.recommendation;
  std::vector<std::string> all;
  all.push_back(replay_sentence(advice.program));
  if (recommended.why) all.push_back(*recommended.why);
  if (!recommended.gains.empty()) all.push_back("Gains: " + recommended.gains);
  if (!recommended.costs.empty()) all.push_back("Costs: " + recommended.costs);
  all.push_back(recommended.recorded);
  for (const auto& other : {recommended.without_preload, recommended.faster_still}) {
    if (other) all.push_back(other->sentence);
  }
  if (recommended.less_at_idle) all.push_back(recommended.less_at_idle->sentence);
  all.push_back(figures_sentence(advice.present.figures));
  all.insert(all.end(), advice.untried_changes.begin(), advice.untried_changes.end());
  if (!advice.recording && recommended.kind != AdviceKind::kNothingToGain) {
    all.push_back(fmt::format("All remedies were tried, because there is no recording: {}.", advice.recording.why()));
  }
  std::erase(all, "");
  return all;
}

}  // namespace

std::string ratio_text(const Measured<Ratio>& ratio) {
  if (!ratio) return "n/a";
  return ratio->median < 0.001 ? "<0.001" : format_number(ratio->median);
}

bool has_idle(const AdviceResult& advice) {
  return std::any_of(advice.remedies.begin(), advice.remedies.end(),
                     [](const TriedRemedy& each) { return each.ratios.idle.has_value(); });
}

bool is_about_sharing(const AdviceResult& advice) { return advice.method.goal == Goal::kShared; }

const TriedRemedy* find_remedy(const std::vector<TriedRemedy>& remedies, const std::string& name) {
  const auto found =
      std::find_if(remedies.begin(), remedies.end(), [&](const TriedRemedy& each) { return each.name == name; });
  return found != remedies.end() ? &*found : nullptr;
}

bool ended_well(const TriedRemedy& remedy) { return remedy.reason.empty() && remedy.verdict != "CHANGED OUTPUT"; }

std::vector<TriedRemedy> sorted_remedies(const AdviceResult& advice) {
  std::vector<TriedRemedy> rows = advice.remedies;
  const auto key = [&](const TriedRemedy& row) {
    const Measured<Ratio>& ratio = ratio_for(row.ratios, advice.method.goal);
    return std::pair(!ended_well(row), ratio ? ratio->median : 1e9);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const TriedRemedy& a, const TriedRemedy& b) { return key(a) < key(b); });
  return rows;
}

std::string advise_text(const AdviceResult& advice) {
  if (advice.loads) return loads_text(advice);
  const Recommendation& recommended = advice.recommendation;
  const std::string head = headline(advice);
  std::string text = wrap(head);
  if (recommended.line) text += "\n" + *recommended.line + "\n";
  if (!recommended.source.empty()) text += "\nWrite before the forks:\n" + recommended.source + "\n";
  if (head.find(recommended.sentence) == std::string::npos) text += "\n" + wrap(recommended.sentence);
  for (const std::string& sentence : sentences(advice)) text += wrap(sentence);
  if (advice.frontier) text += frontier_text(*advice.frontier);
  text += tried_text(advice);
  if (!advice.not_tried.empty()) text += "\nNot tried:\n";
  for (const auto& [why, names] : by_reason(advice.not_tried)) {
    text += wrap(fmt::format("{}: {}", why, names), "  ", "    ");
  }
  const std::string method = method_sentence(advice);
  return method.empty() ? text : text + "\n" + wrap(method);
}

std::string advise_markdown(const AdviceResult& advice) {
  const Recommendation& recommended = advice.recommendation;
  std::string text = "## Advice\n\n";
  if (!recommended.source.empty()) text += markdown_block(recommended.source, "") + "\n";
  if (advice.loads) text += markdown_escaped(advice.loads->sentence) + "\n\nUnder the first load:\n\n";
  if (recommended.line) text += markdown_block(*recommended.line, "") + "\n";
  text += markdown_escaped(recommended.sentence) + "\n";
  for (const std::string& sentence : sentences(advice)) text += "\n" + markdown_escaped(sentence) + "\n";
  text += tried_markdown(advice);
  if (!advice.not_tried.empty()) text += "\nNot tried:\n\n";
  for (const auto& [why, names] : by_reason(advice.not_tried)) {
    text += fmt::format("- {}: {}\n", markdown_escaped(why), markdown_escaped(names));
  }
  const std::string method = method_sentence(advice);
  return method.empty() ? text : text + "\n" + markdown_escaped(method) + "\n";
}

}  // namespace zerotax::advise
