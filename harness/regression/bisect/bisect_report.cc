#include <fmt/format.h>

#include "base/shell.h"
#include "base/table.h"
#include "base/units.h"
#include "bisect/table.h"
#include "cli/subcommand.h"

namespace zerotax::bisect {
namespace {

/// What is measured on another machine may differ: what counts for that.
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

/// "fixed by 0123456789: zeroes fresh memory".
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
    text += fmt::format("All that changed in the metrics of `zerotax check`: {}\n\n",
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
