#include "exchange/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/markdown.h"
#include "base/printable.h"
#include "base/units.h"
#include "exchange/cut_text.h"

namespace zerotax::exchange {
namespace {

constexpr std::size_t kLongestLine = 1000;
constexpr std::size_t kLongestName = 200;
constexpr std::size_t kLongestDetails = 8000;
constexpr std::size_t kLongestNotes = 3000;
/// Tables may take so much of the whole.
constexpr double kTables = 0.7;
/// What stands for something that was cut.
constexpr std::size_t kMoreLine = 120;

std::string inline_text(std::string_view text, std::size_t most) {
  return markdown_escaped(cut_text(printable(text), most));
}

std::string row_of(const Outcome& outcome) {
  std::string row = "| " + inline_text(label_of(outcome), kLongestName) + " |";
  for (const std::string& cell : outcome.cells) row += " " + inline_text(cell, kLongestName) + " |";
  return row + fmt::format(" {} | {} |\n", inline_text(outcome.verdict, kLongestName),
                           inline_text(after_verdict(outcome.headline, outcome.verdict), kLongestLine));
}

std::string header_of(const OutcomeList& list) {
  std::string names = "| " + list.thing + " |";
  std::string rule = "|:--|";
  for (const std::string& column : list.columns) {
    names += " " + inline_text(column, kLongestName) + " |";
    rule += "--:|";
  }
  return names + " verdict | why |\n" + rule + ":--|:--|\n";
}

std::string details_of(const Outcome& outcome) {
  return fmt::format("<details><summary>{}: {}</summary>\n\n{}\n</details>\n\n",
                     inline_text(label_of(outcome), kLongestName), inline_text(outcome.verdict, kLongestName),
                     markdown_block(cut_text(printable_lines(outcome.details), kLongestDetails)));
}

/// What is cut first has the highest.
int rank(const Outcome& outcome) {
  if (outcome.fails) return 0;
  if (outcome.kind == OutcomeKind::kSame) return 3;
  return outcome.kind == OutcomeKind::kSkipped ? 2 : 1;
}

using Outcomes = std::vector<const Outcome*>;

/// Those of a list whose texts fit in so many bytes, in the order of the list.
template <typename Text>
Outcomes fitting(const Outcomes& all, std::size_t room, const Text& text) {
  Outcomes by_rank = all;
  std::stable_sort(by_rank.begin(), by_rank.end(),
                   [](const Outcome* one, const Outcome* other) { return rank(*one) < rank(*other); });
  Outcomes kept;
  std::size_t used = 0;
  for (const Outcome* each : by_rank) {
    used += text(*each).size();
    if (used > room) break;
    kept.push_back(each);
  }
  Outcomes ordered;
  std::copy_if(all.begin(), all.end(), std::back_inserter(ordered),
               [&](const Outcome* each) { return std::find(kept.begin(), kept.end(), each) != kept.end(); });
  return ordered;
}

std::string more(std::size_t count, const Outcomes& all, const Outcomes& kept, const char* what) {
  const auto failing = [](const Outcomes& those) {
    return std::count_if(those.begin(), those.end(), [](const Outcome* each) { return each->fails; });
  };
  const auto lost = static_cast<std::uint64_t>(failing(all) - failing(kept));
  return fmt::format("\n{} more {}{}.\n", format_count(count), what,
                     lost > 0 ? fmt::format(", of which {} fail", format_count(lost)) : "");
}

std::string tables(const OutcomeList& list, std::size_t room) {
  Outcomes listed;
  std::vector<std::string> suites;
  for (const Outcome& each : list.outcomes) {
    if (!list.passed_in_table && each.kind == OutcomeKind::kSame) continue;
    listed.push_back(&each);
    if (std::find(suites.begin(), suites.end(), each.suite) == suites.end()) suites.push_back(each.suite);
  }
  const std::string header = header_of(list);
  const bool several = suites.size() > 1;
  const std::size_t heads = suites.size() * (header.size() + (several ? kLongestName : 0)) + kMoreLine;
  const Outcomes kept = fitting(listed, room > heads ? room - heads : 0, row_of);
  std::string text;
  for (const std::string& suite : suites) {
    std::string rows;
    for (const Outcome* each : kept) rows += each->suite == suite ? row_of(*each) : "";
    if (rows.empty()) continue;
    if (several) text += "#### " + inline_text(suite, kLongestName / 2) + "\n\n";
    text += header + rows + "\n";
  }
  if (kept.size() < listed.size()) text += more(listed.size() - kept.size(), listed, kept, "rows") + "\n";
  return text;
}

std::string all_details(const OutcomeList& list, std::size_t room) {
  Outcomes with;
  for (const Outcome& each : list.outcomes) {
    if (each.kind != OutcomeKind::kSame && !each.details.empty()) with.push_back(&each);
  }
  const Outcomes kept = fitting(with, room > kMoreLine ? room - kMoreLine : 0, details_of);
  std::string text;
  for (const Outcome* each : kept) text += details_of(*each);
  if (kept.size() < with.size()) text += more(with.size() - kept.size(), with, kept, "with details") + "\n";
  return text;
}

}  // namespace

std::string markdown_text(const OutcomeList& list, std::size_t most) {
  std::string text = fmt::format("### {}: {}\n\n**{}**\n\n", inline_text(list.command, kLongestName), verdict_of(list),
                                 inline_text(list.sentence, kLongestLine));
  if (!list.subject.empty()) text += inline_text(list.subject, kLongestLine) + "\n\n";
  std::string notes;
  for (std::size_t i = 0; i < list.notes.size(); ++i) {
    const std::string note = "- " + inline_text(list.notes[i], kLongestLine) + "\n";
    if (notes.size() + note.size() > kLongestNotes) {
      notes += fmt::format("- {} more\n", format_counted(list.notes.size() - i, "note"));
      break;
    }
    notes += note;
  }
  const auto left = [&](double share) {
    const std::size_t used = text.size() + notes.size();
    return used < most ? static_cast<std::size_t>(share * static_cast<double>(most - used)) : 0;
  };
  text += tables(list, left(kTables));
  text += all_details(list, left(1));
  const auto passed = static_cast<std::uint64_t>(std::count_if(
      list.outcomes.begin(), list.outcomes.end(), [](const Outcome& each) { return each.kind == OutcomeKind::kSame; }));
  if (!list.passed_in_table && passed > 0) text += fmt::format("{} passed.\n\n", format_count(passed));
  return text + notes;
}

}  // namespace zerotax::exchange
