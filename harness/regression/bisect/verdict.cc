#include "bisect/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace zerotax::bisect {

std::string sentence_of(const Row& row) {
  if (!row.version.measurement) return why_not(row.version);
  if (row.difference) return row.difference->sentence;
  if (row.compared_with.empty()) return "the first that was measured";
  return fmt::format("interrupted before it was compared with {}", row.compared_with);
}

std::string title_of(const HistoryRequest& request, const History& history) {
  std::size_t measured = 0;
  std::size_t changed = 0;
  for (const Row& row : history.rows) {
    measured += row.version.measurement ? 1 : 0;
    changed += row.is_change() ? 1 : 0;
  }
  const std::size_t all = history.rows.size();
  return fmt::format("{}: {} of {} changed {}{}", request.recipe.name, changed, format_counted(all, "version"),
                     request.recipe.is_of_program() ? "what is counted of it" : "what calloc and free do",
                     measured < all ? fmt::format("; {} could not be measured", all - measured) : "");
}

std::vector<std::string> notes_of(const HistoryRequest& request, const History& history) {
  std::vector<std::string> notes{
      "Each version is compared with the one measured before it; deterministic metrics alone, no times."};
  if (!request.grid.command && !request.grid.thresholds) {
    notes.emplace_back("Thresholds were not searched: only the measured sizes are shown.");
  }
  const bool gaps =
      std::any_of(history.rows.begin(), history.rows.end(), [](const Row& row) { return !row.version.measurement; });
  if (gaps) notes.emplace_back("A version without a bar was not measured.");
  return notes;
}

std::string sentence_of(const Bisection& found, const BisectOutcome* outcome) {
  if (outcome == nullptr) {
    if (!found.complete) return "Interrupted before the commit was found.";
    return fmt::format("Not decided: one of {} did it, and those between could not be measured.",
                       format_counted(found.candidates.size(), "commit"));
  }
  std::string text = fmt::format("{} is the first that is {}as expected: {}; before: {}.", found.first->name(),
                                 found.is_fix ? "" : "not ", outcome->after_answer.value, outcome->before_answer.value);
  for (const MergeFound& merge : found.merges) {
    const bool itself = merge.commit.id == found.first->id;
    text += fmt::format(" {}{}", itself ? "" : merge.commit.name() + ": ", merge.sentence);
  }
  return text;
}

}  // namespace zerotax::bisect
