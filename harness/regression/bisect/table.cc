#include "bisect/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lines.h"
#include "base/shell.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/subcommand.h"

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
              fmt::format("  {:<12}{:<9}", first_characters(one_line(commit.name()), 11), word(answer.kind)),
              std::string(23, ' '));
}

/// Returns the properties of the machine on which measurements may depend.
std::string machine_lines(const Environment& environment) {
  std::string text;
  const auto add = [&](const char* what, const Measured<std::string>& value) {
    if (value) text += fmt::format("- {}: {}\n", what, markdown_escaped(*value));
  };
  add("kernel", environment.kernel);
  add("cpu", environment.cpu);
  add("thp", environment.thp);
  add("libc", environment.libc);
  return text;
}

std::string measured_where(const Question& question) {
  if (!question.is_of_a_point()) return "";
  const Place& place = question.place;
  return fmt::format(" ({}, {}, touch {:g}, {} thread)", place.case_name, format_size(place.size_bytes), place.touch,
                     place.thread);
}

std::string commit_lines(const Commit& commit) {
  return fmt::format("- commit {}\n- author: {}\n- date: {}\n- subject: {}\n", commit.id,
                     markdown_escaped(commit.author), commit.date, markdown_escaped(commit.subject));
}

/// Returns a heading such as "fixed by 0123456789: zeroes fresh memory".
std::string heading_of(const Bisection& found, const BisectOutcome& outcome, const std::string& name) {
  if (outcome.findings.empty()) return outcome.after_answer.value + " since " + name;
  return (found.is_fix ? "fixed by " + name + ": " : "") + outcome.findings.front().title;
}

std::string merge_lines(const Bisection& found) {
  std::string text;
  for (const MergeFound& merge : found.merges) text += markdown_escaped(merge.sentence) + "\n";
  if (found.origin) text += "\nThe merge:\n\n" + commit_lines(*found.first);
  return text.empty() ? "" : text + "\n";
}

}  // namespace

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
    return fmt::format("Not decided: one of {} made the change, and the commits between could not be measured.",
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

std::string report_draft(const BisectRequest& request, const Bisection& found, const BisectOutcome& outcome) {
  const std::string& allocator = request.recipe.name;
  const std::string name = found.first->id.substr(0, 10);
  std::string text =
      fmt::format("# {}: {}\n\n", markdown_escaped(allocator), markdown_escaped(heading_of(found, outcome, name)));
  text += "Draft. `zerotax bisect` wrote it; check it before you send it. ";
  if (request.recipe.is_of_program()) {
    text += fmt::format("For all call stacks:\n{}\n\n",
                        markdown_code("zerotax record -- " + shell_text(request.question.grid.command->words)));
  } else {
    text += fmt::format("For the full report, with a reproducer in C:\n{}\n\n",
                        markdown_code(fmt::format("zerotax report --allocator {}={}", allocator,
                                                  outcome.library.empty() ? "LIBRARY" : outcome.library)));
  }
  text += fmt::format("## What changed\n\n| version | {} | measured{} |\n|---|---|---|\n",
                      markdown_escaped(text_of(request.question)), markdown_escaped(measured_where(request.question)));
  text += fmt::format("| before ({}) | {} | {} |\n", markdown_escaped(outcome.before.name()),
                      outcome.before_answer.kind == Answer::Kind::kGood ? "yes" : "no",
                      markdown_escaped(outcome.before_answer.value));
  text += fmt::format("| after ({}) | {} | {} |\n\n", name, found.is_fix ? "yes" : "no",
                      markdown_escaped(outcome.after_answer.value));
  if (!found.is_fix) {
    for (const Finding& finding : outcome.findings) text += markdown_escaped(finding.sentence) + "\n\n";
  }
  if (outcome.difference) {
    text += fmt::format("All changes of the metrics of `zerotax check`: {}\n\n",
                        markdown_escaped(outcome.difference->sentence));
  }
  text += fmt::format("## The commit\n\n{}\n{}\n", commit_lines(found.author_of_change()),
                      markdown_block(outcome.diffstat, ""));
  text += merge_lines(found);
  std::string commands;
  for (const std::string& command : request.recipe.commands) commands += command + "\n";
  text += fmt::format("Found by `git bisect` among {}, in {}:\n\n{}\nBuilt by:\n\n{}\n## Measured on\n\n{}",
                      format_counted(found.between, "commit"), format_counted(found.steps.size(), "step"),
                      markdown_block(shell_text(Subcommand::command_line), ""), markdown_block(commands, ""),
                      machine_lines(request.environment));
  return text + fmt::format("- zerotax {}\n", ZEROTAX_VERSION);
}

}  // namespace zerotax::bisect
