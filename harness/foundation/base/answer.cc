#include "base/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/lines.h"
#include "base/printable.h"
#include "base/units.h"

namespace zerotax {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kFewestRows = 3;
constexpr const char* kIndent = "       ";

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Splits a command into lines of 78 columns that a shell joins again. A backslash ends each line but the last, and no
/// line is broken within quotes.
std::string command_lines(const std::string& command, const std::string& first) {
  constexpr std::size_t kRoom = kColumns - 4;  // room for " \" and the margin that wrap adds
  const std::string text = printable(command);
  std::string lines;
  std::string line = first;
  std::string word;
  char quote = 0;
  bool escapes = true;  // false within '...', where a backslash is literal; true within $'...'
  const auto add_word = [&] {
    if (line.size() > first.size() && shown_width(line) + 1 + shown_width(word) > kRoom) {
      lines += line + " \\\n";
      line = std::string(first.size(), ' ') + "  ";
    } else if (line.size() > first.size()) {
      line += ' ';
    }
    line += word;
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '\\' && escapes && i + 1 < text.size()) {
      word += letter;
      word += text[++i];
    } else if (quote == 0 && letter == ' ') {
      add_word();
    } else {
      if (letter == quote) {
        quote = 0;
        escapes = true;
      } else if (quote == 0 && (letter == '\'' || letter == '"')) {
        quote = letter;
        escapes = letter == '"' || (i > 0 && text[i - 1] == '$');
      }
      word += letter;
    }
  }
  add_word();
  return lines + line + "\n";
}

std::string steps_text(const std::vector<Answer::Step>& steps) {
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string first = i == 0 ? "Try:   " : kIndent;
    const std::string& reason = steps[i].reason;
    if (steps[i].command.empty()) {
      text += wrap(reason, first, kIndent);
    } else if (reason.empty()) {
      text += command_lines(steps[i].command, first);
    } else if (first.size() + shown_width(reason) + 1 + shown_width(steps[i].command) < kColumns - 1) {
      text += first + printable(reason) + " " + printable(steps[i].command) + "\n";
    } else {
      text += wrap(reason, first, kIndent) + command_lines(steps[i].command, std::string(kIndent) + "  ");
    }
  }
  return text;
}

std::string warnings_text(const std::vector<std::string>& warnings, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, warnings.size()); ++i) text += wrap(warnings[i], "! ", "  ");
  if (shown >= warnings.size()) return text;
  return text + fmt::format("! {}: --full\n",
                            format_counted(warnings.size() - shown, shown == 0 ? "warning" : "more warning"));
}

/// Removes the last sentence, and marks the gap with …. Returns false if the text is a single sentence.
bool drop_last_sentence(std::string& text) {
  constexpr std::string_view kMark = " …";
  const std::size_t length = text.size() - (text.ends_with(kMark) ? kMark.size() : 0);
  const std::size_t end = length < 2 ? std::string::npos : text.rfind(". ", length - 2);
  if (end == std::string::npos) return false;
  text.resize(end + 1);
  text += kMark;
  return true;
}

/// Returns the text of the table with at most `rows` rows.
std::string table_text(const std::optional<Table>& table, std::size_t rows) {
  return table && !table->empty() ? "\n" + table->text(true, rows) : "";
}

}  // namespace

void add_alternative(std::vector<Answer::Step>& steps, Answer::Step step) {
  if (!steps.empty() && !step.reason.empty()) step.reason.insert(0, "or ");
  steps.push_back(std::move(step));
}

std::string answer_text(const Answer& answer, std::size_t most_lines) {
  const std::string head = wrap(answer.headline);
  const std::string where = answer.where.empty() ? "" : wrap(answer.where, "Where: ", kIndent);
  std::vector<Answer::Step> steps = answer.steps;
  const std::string more = answer.more.empty() ? "" : wrap(answer.more + ": --full");
  std::string legend = answer.legend.empty() ? "" : wrap(answer.legend);
  std::vector<std::string> warnings = answer.warnings;
  std::size_t rows = answer.table ? answer.table->rows() : 0;
  std::size_t shown = warnings.size();
  const auto text = [&] {
    const std::string table = table_text(answer.table, rows);
    const std::string middle = where + steps_text(steps);
    const std::string rest = middle + warnings_text(warnings, shown) + legend + more;
    const bool apart = !rest.empty() && !(table.empty() && middle.empty());
    return head + table + (apart ? "\n" : "") + rest;
  };
  while (lines_of(text()) > most_lines) {
    // NOLINTBEGIN(bugprone-branch-clone): the order decides what is dropped first.
    if (rows > kFewestRows) {
      --rows;
    } else if (shown > 1) {
      --shown;
    } else if (shown == 1 && lines_of(wrap(warnings.front())) > 1 && drop_last_sentence(warnings.front())) {
      continue;
    } else if (rows > 1) {
      --rows;
    } else if (!legend.empty()) {
      legend.clear();
    } else if (shown > 0) {
      --shown;
    } else if (steps.size() > 1) {
      steps.pop_back();
    } else {
      break;
    }
    // NOLINTEND(bugprone-branch-clone)
  }
  return text();
}

}  // namespace zerotax
