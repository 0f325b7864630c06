#include "base/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/lines.h"
#include "base/shell.h"
#include "base/units.h"
#include "bisect/table.h"

namespace zerotax::bisect {
namespace {

constexpr std::size_t kLongestName = 20;
constexpr std::size_t kLongestChange = 46;
constexpr std::size_t kMostCandidates = 8;
constexpr std::size_t kShortId = 10;

/// Ranks the most severe verdicts first: failed, worse, mixed, better, changed.
int rank_of(Verdict verdict) {
  constexpr Verdict kOrder[] = {Verdict::kFailed, Verdict::kWorse, Verdict::kMixed, Verdict::kBetter};
  return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), verdict) - std::begin(kOrder));
}

std::vector<const Row*> changed_rows(const History& history) {
  std::vector<const Row*> rows;
  for (const Row& row : history.rows) {
    if (row.is_change()) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row* one, const Row* other) {
    return rank_of(one->difference->verdict) < rank_of(other->difference->verdict);
  });
  return rows;
}

std::vector<std::string> history_warnings(const HistoryRequest& request, const History& history) {
  std::vector<std::string> all;
  std::size_t missing = 0;
  const Row* first = nullptr;
  for (const Row& row : history.rows) {
    if (row.version.measurement) continue;
    if (missing++ == 0) first = &row;
  }
  if (first != nullptr) {
    all.push_back(fmt::format("{} not measured. {}: {}.", format_counted(missing, "version was", "versions were"),
                              first->version.commit.name(), one_line(sentence_of(*first))));
  }
  if (!request.grid.command && !request.grid.thresholds) {
    all.emplace_back("Thresholds were not searched: only the measured sizes are compared.");
  }
  return all;
}

std::string diffstat_words(const BisectOutcome& outcome) {
  const std::string& stat = outcome.diffstat;
  const std::size_t line = stat.find_last_of('\n');
  const std::size_t first = stat.find_first_not_of(' ', line == std::string::npos ? 0 : line + 1);
  return first == std::string::npos ? "" : one_line(stat.substr(first));
}

std::string commit_words(const Commit& commit) {
  return fmt::format("commit {} of {} ({}): {}", commit.id.substr(0, kShortId), one_line(commit.author),
                     commit.date.substr(0, 10), one_line(commit.subject));
}

std::string show_command(const BisectRequest& request, const Commit& commit) {
  return shell_text({"git", "-C", request.repository, "show", commit.id.substr(0, kShortId)});
}

}  // namespace

zerotax::Answer history_answer(const HistoryRequest& request, const History& history,
                               const std::vector<std::string>& bisect_command) {
  zerotax::Answer answer{.headline = title_of(request, history) + ".",
                         .warnings = history_warnings(request, history),
                         .more = "All versions"};
  const std::vector<const Row*> rows = changed_rows(history);
  if (rows.empty()) return answer;
  Table table({{"version"}, {"date"}, {"what it changed", Unit::kText, 0, "", {}, 2}});
  for (const Row* row : rows) {
    const Commit& commit = row->version.commit;
    table.add({first_characters(one_line(commit.name()), kLongestName), commit.date.substr(0, 10),
               first_characters(one_line(row->difference->sentence), kLongestChange)});
  }
  answer.table = table;
  const Row& worst = *rows.front();
  answer.where =
      fmt::format("The verdict on {} is {}.", worst.version.commit.name(), one_line(worst.difference->sentence));
  if (bisect_command.empty()) return answer;
  std::vector<std::string> command = bisect_command;
  const auto end = std::find(command.begin(), command.end(), "--");
  command.insert(end, {"--good", worst.compared_with, "--bad", worst.version.commit.name()});
  answer.steps.push_back({shell_text(command), "find the commit between the two versions:"});
  return answer;
}

zerotax::Answer bisect_answer(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome) {
  zerotax::Answer answer{.headline = fmt::format("{}: {}", request.recipe.name, sentence_of(found, outcome)),
                         .more = "All steps, and the files of the commit"};
  Table table({{"version"}, {"answer"}, {"measured"}});
  const auto add = [&](const Commit& commit, const char* said, const std::string& value) {
    table.add({first_characters(one_line(commit.name()), kLongestName), said,
               first_characters(one_line(value), kLongestChange)});
  };
  const auto skipped =
      static_cast<std::size_t>(std::count_if(found.steps.begin(), found.steps.end(), [](const BisectStep& step) {
        return step.answer.kind == Answer::Kind::kUnknown;
      }));
  if (skipped != 0) {
    answer.warnings.push_back(fmt::format("{} could not be measured and {} skipped.",
                                          format_counted(skipped, "version"), skipped == 1 ? "was" : "were"));
  }
  if (outcome == nullptr) {
    for (std::size_t i = 0; i < std::min(found.candidates.size(), kMostCandidates); ++i) {
      add(found.candidates[i], "unknown", found.candidates[i].subject);
    }
    if (!table.empty()) answer.table = table;
    if (!found.candidates.empty())
      answer.steps.push_back({show_command(request, found.candidates.front()), "look at a candidate:"});
    return answer;
  }
  add(outcome->before, word(outcome->before_answer.kind), outcome->before_answer.value);
  add(*found.first, word(outcome->after_answer.kind), outcome->after_answer.value);
  answer.table = table;
  const Commit& author = found.author_of_change();
  answer.where = fmt::format("{}; {}.", commit_words(author), diffstat_words(*outcome));
  if (outcome->difference) answer.where += fmt::format(" Its verdict is {}.", one_line(outcome->difference->sentence));
  answer.steps = {{show_command(request, author)},
                  {"", "or repeat the command with --report FILE, which writes the draft of a report."}};
  return answer;
}

}  // namespace zerotax::bisect
