#include "exchange/outcome_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/table.h"
#include "base/units.h"
#include "exchange/outcome.h"

namespace zerotax::exchange {
namespace {

/// Number of annotations of one kind that GitHub shows per step.
constexpr std::size_t kShown = 10;
/// GitHub shows messages of up to 64 KiB in full, but a longer message than a screen would not be read.
constexpr std::size_t kLongest = 4000;

enum class Level : std::uint8_t { kNone, kNotice, kWarning, kError };

const char* command_of(Level level) {
  constexpr const char* kCommands[] = {"", "notice", "warning", "error"};
  return kCommands[static_cast<std::size_t>(level)];
}

Level level_of(OutcomeKind kind, bool fails) {
  if (fails) return Level::kError;
  if (kind == OutcomeKind::kBetter) return Level::kNotice;
  return kind == OutcomeKind::kSame ? Level::kNone : Level::kWarning;
}

/// Escapes % and line breaks as GitHub's runner expects. In a property, also escapes the delimiters of properties.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char each : text) {
    const bool special = each == '%' || each == '\r' || each == '\n' || (property && (each == ':' || each == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned char>(each)) : std::string(1, each);
  }
  return out;
}

std::string line(Level level, const std::string& file, const std::string& title, const std::string& message) {
  std::string properties = file.empty() ? "" : "file=" + escaped(printable(file), true) + ",";
  properties += "title=" + escaped(printable(title), true);
  return fmt::format("::{} {}::{}\n", command_of(level), properties,
                     escaped(cut_text(printable_lines(message), kLongest), false));
}

}  // namespace

std::string github_commands(const OutcomeList& list) {
  const bool failing = fails(list);
  Level overall = level_of(list.kind, failing);
  if (overall == Level::kNone) overall = Level::kNotice;
  std::string text = line(overall, "", list.command, list.sentence);
  for (const Level level : {Level::kError, Level::kWarning, Level::kNotice}) {
    // The verdict takes one annotation of its kind, and the line that counts omitted outcomes takes one of each kind.
    const std::size_t room = kShown - (level == overall ? 1 : 0);
    std::vector<const Outcome*> own;
    for (const Outcome& each : list.outcomes) {
      if (level_of(each.kind, each.fails) == level) own.push_back(&each);
    }
    const std::size_t shown = own.size() <= room ? own.size() : room - 1;
    for (std::size_t i = 0; i < shown; ++i) {
      const Outcome& each = *own[i];
      text += line(level, each.file, fmt::format("{}: {}: {}", each.suite, label_of(each), each.verdict),
                   after_verdict(each.headline, each.verdict));
    }
    if (shown == own.size()) continue;
    text += line(level, "", list.command,
                 fmt::format("{} more, which GitHub would not show: see the log, or the file of --markdown",
                             format_count(own.size() - shown)));
  }
  return text;
}

namespace {

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(value.c_str());
}

/// The outcomes of one test.
using Test = std::vector<const Outcome*>;

/// Returns the XML element of a test case for an outcome; nullptr if the outcome passes.
const char* element_of(const Outcome& outcome) {
  if (outcome.fails) return outcome.kind == OutcomeKind::kFailed ? "error" : "failure";
  return outcome.kind == OutcomeKind::kSkipped ? "skipped" : nullptr;
}

/// Returns the worst outcome of a test.
const Outcome& worst_of(const Test& test) {
  const auto rank = [](const Outcome& outcome) {
    if (outcome.fails) return outcome.kind == OutcomeKind::kFailed ? 3 : 2;
    return outcome.kind == OutcomeKind::kSkipped ? 1 : 0;
  };
  return **std::max_element(test.begin(), test.end(),
                            [&](const Outcome* one, const Outcome* other) { return rank(*one) < rank(*other); });
}

void count(const std::vector<Test>& tests, pugi::xml_node node) {
  const auto number = [&](std::string_view element) {
    return fmt::to_string(std::count_if(tests.begin(), tests.end(), [&](const Test& each) {
      const char* its = element_of(worst_of(each));
      return its != nullptr && its == element;
    }));
  };
  set(node, "tests", fmt::to_string(tests.size()));
  set(node, "failures", number("failure"));
  set(node, "errors", number("error"));
  if (std::string_view(node.name()) == "testsuite") set(node, "skipped", number("skipped"));
}

void add_property(pugi::xml_node properties, const char* name, const std::string& value) {
  const pugi::xml_node property = properties.append_child("property");
  set(property, "name", name);
  set(property, "value", printable_lines(value));
}

std::string said(const Outcome& outcome) {
  return outcome.verdict + ": " + after_verdict(outcome.headline, outcome.verdict);
}

void add_case(const OutcomeList& list, const Test& outcomes, pugi::xml_node suite) {
  const Outcome& worst = worst_of(outcomes);
  pugi::xml_node test = suite.append_child("testcase");
  set(test, "name", printable(test_of(worst)));
  set(test, "classname", printable(list.command + "." + worst.suite));
  const char* element = element_of(worst);
  std::string text;
  for (const Outcome* each : outcomes) {
    const bool alone = element != nullptr && outcomes.size() == 1;
    text += alone ? (each->details.empty() ? each->headline : each->details)
                  : said(*each) + (outcomes.size() > 1 ? "\n" : "") + (element != nullptr ? each->details : "");
  }
  if (element == nullptr) {
    test.append_child("system-out").text().set(printable_lines(text).c_str());
    return;
  }
  pugi::xml_node inner = test.append_child(element);
  const std::string more = outcomes.size() > 1 ? fmt::format(" (and {} more)", outcomes.size() - 1) : "";
  set(inner, "message", printable(said(worst) + more));
  if (element != std::string_view("skipped")) set(inner, "type", word(worst.kind));
  inner.text().set(printable_lines(text).c_str());
}

}  // namespace

std::string junit_xml(const OutcomeList& list, double seconds, const std::string& started) {
  std::vector<std::string> suites;
  std::vector<Test> all;
  for (const Outcome& each : list.outcomes) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Test& test) {
      return test.front()->suite == each.suite && test_of(*test.front()) == test_of(each);
    });
    same == all.end() ? all.push_back({&each}) : same->push_back(&each);
    if (std::find(suites.begin(), suites.end(), each.suite) == suites.end()) suites.push_back(each.suite);
  }
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", printable(list.command));
  set(root, "time", fmt::format("{:.3f}", seconds));
  count(all, root);
  for (const std::string& name : suites) {
    std::vector<Test> own;
    std::copy_if(all.begin(), all.end(), std::back_inserter(own),
                 [&](const Test& each) { return each.front()->suite == name; });
    pugi::xml_node suite = root.append_child("testsuite");
    set(suite, "name", printable(name));
    count(own, suite);
    // The format does not permit a time zone, so the Z is removed.
    set(suite, "timestamp", started.ends_with('Z') ? started.substr(0, started.size() - 1) : started);
    pugi::xml_node properties = suite.append_child("properties");
    add_property(properties, "verdict", list.sentence);
    add_property(properties, "subject", list.subject);
    for (const std::string& note : list.notes) add_property(properties, "note", note);
    for (const Test& each : own) add_case(list, each, suite);
  }
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

namespace {

constexpr std::size_t kLongestLine = 1000;
constexpr std::size_t kLongestName = 200;
constexpr std::size_t kLongestDetails = 8000;
constexpr std::size_t kLongestNotes = 3000;
/// Share of the whole text that tables may take.
constexpr double kTables = 0.7;
/// Bytes reserved for the line that counts omitted outcomes.
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

/// Ranks outcomes for cutting: the highest rank is cut first.
int rank(const Outcome& outcome) {
  if (outcome.fails) return 0;
  if (outcome.kind == OutcomeKind::kSame) return 3;
  return outcome.kind == OutcomeKind::kSkipped ? 2 : 1;
}

using Outcomes = std::vector<const Outcome*>;

/// Returns the outcomes whose texts fit in `room` bytes, in the order of the list.
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
