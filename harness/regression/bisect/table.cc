#include "bisect/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/one_line.h"
#include "base/units.h"
#include "base/wrap.h"
#include "bisect/verdict.h"

namespace zerotax::bisect {
namespace {

constexpr std::size_t kMostName = 20;

std::string build_words(const Version& version) {
  if (!version.build) return "";
  if (version.build->state != Build::State::kBuilt) {
    return version.state == Version::State::kTimeout ? "timeout" : "fails";
  }
  return version.build->cached ? "cached" : fmt::format("{:.1f} s", version.build->seconds);
}

std::string answer_line(const Commit& commit, const Answer& answer) {
  return wrap(one_line(answer.value),
              fmt::format("  {:<12}{:<9}", first_characters(one_line(commit.name()), 11), word_of(answer.kind)),
              std::string(23, ' '));
}

}  // namespace

std::string history_text(const HistoryRequest& request, const History& history) {
  std::size_t names = 7;
  for (const Row& row : history.rows) names = std::max(names, row.version.commit.name().size());
  names = std::min(names, kMostName);
  std::string text = fmt::format("{:<{}}  {:<10}  {:>7}  {}\n", "version", names, "date", "build", "what it changed");
  const std::string further(names + 23, ' ');
  for (const Row& row : history.rows) {
    const Commit& commit = row.version.commit;
    const std::string head = fmt::format("{:<{}}  {:<10}  {:>7}  ", first_characters(one_line(commit.name()), names),
                                         names, commit.date.substr(0, 10), build_words(row.version));
    text += wrap(one_line(sentence_of(row)), head, further);
  }
  return text + "\n" + wrap(title_of(request, history) + ".", "", "  ");
}

std::string bisect_text(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome) {
  std::string text = wrap(fmt::format("{} between {} and {}, by '{}'", format_counted(found.between, "commit"),
                                      found.good.name(), found.bad.name(), text_of(request.question)),
                          "", "  ");
  text += answer_line(found.good, found.good_answer) + answer_line(found.bad, found.bad_answer);
  for (const BisectStep& step : found.steps) text += answer_line(step.commit, step.answer);
  text += "\n" + wrap(sentence_of(found, outcome), "", "  ");
  for (const Commit& commit : found.candidates) {
    text += fmt::format("  {}  {}\n", commit.id.substr(0, 10), first_characters(one_line(commit.subject), 66));
  }
  if (outcome == nullptr) return text;
  const Commit& commit = found.author_of_change();
  text += fmt::format("\ncommit {}\nauthor {}\ndate   {}\n\n    {}\n\n{}\n\n", commit.id, one_line(commit.author),
                      commit.date, one_line(commit.subject), outcome->diffstat);
  const auto add = [&](const char* label, const std::string& what) {
    text += wrap(what, fmt::format("{:<8}", label), std::string(8, ' '));
  };
  add("before", one_line(outcome->before_answer.value));
  add("after", one_line(outcome->after_answer.value));
  if (outcome->difference) add("check", one_line(outcome->difference->sentence));
  for (const Finding& finding : outcome->findings) add(found.is_fix ? "gone" : "finding", finding.title);
  return text;
}

}  // namespace zerotax::bisect
