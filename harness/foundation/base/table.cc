#include "base/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>

#include "base/printable.h"
#include "base/units.h"

namespace zerotax {

std::string Palette::operator()(Tone tone, std::string_view word) const {
  const std::size_t first = word.find_first_not_of(' ');
  if (!coloured_ || first == std::string_view::npos) return std::string(word);
  const std::size_t end = word.find_last_not_of(' ') + 1;
  // Every terminal has these eight colors, and its user has chosen readable shades.
  const int colour = tone == Tone::kWorse ? 31 : tone == Tone::kBetter ? 32 : 33;
  return fmt::format("{}\x1b[1;{}m{}\x1b[0m{}", word.substr(0, first), colour, word.substr(first, end - first),
                     word.substr(end));
}

std::string Palette::first_in(std::string text, Tone tone, std::string_view word) const {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? text : text.replace(at, word.size(), (*this)(tone, word));
}

namespace {

/// A comment that keeps GitHub from making a link of "https://" or "www.", a mention of "@", or a reference of "#". The
/// comment must stand within that text.
constexpr const char* kComment = "<!-- -->";

/// Whether the character at `at`, at the beginning of a line, would begin a list, a heading or a rule.
bool begins_block(const std::string& text, std::size_t at) {
  if (text.find_first_not_of(" 0123456789") < at) return false;
  const bool before_blank = at + 1 < text.size() && text[at + 1] == ' ';
  if (at != text.find_first_not_of(' ')) return before_blank && (text[at] == '.' || text[at] == ')');
  return (before_blank && (text[at] == '-' || text[at] == '+')) || text.compare(at, 3, "---") == 0 || text[at] == '=';
}

std::size_t longest_run(std::string_view text, std::size_t at_least) {
  std::size_t longest = at_least;
  std::size_t run = 0;
  for (const char each : text) {
    run = each == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string markdown_escaped(std::string_view raw) {
  const std::string text = printable(raw);
  std::string out;
  const auto in_word = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  const auto follows = [&](std::size_t at, std::string_view what) { return text.compare(at, what.size(), what) == 0; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char each = text[at];
    const bool outer_underscore = each == '_' && !(at > 0 && in_word(at - 1) && in_word(at + 1));
    if (std::string_view("&<>|\\`*[]~$").find(each) != std::string_view::npos || outer_underscore ||
        begins_block(text, at)) {
      // Markdown never treats a character reference as syntax.
      out += fmt::format("&#{};", static_cast<int>(each));
      continue;
    }
    const bool www = each == '.' && at >= 3 && std::tolower(static_cast<unsigned char>(text[at - 1])) == 'w' &&
                     std::tolower(static_cast<unsigned char>(text[at - 2])) == 'w';
    if (www) out += kComment;
    out += each;
    if (each == '@' || each == '#' || follows(at, "://")) out += kComment;
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  std::string code;
  // In a table, | ends a cell even within code.
  for (const char each : printable(text)) code += each == '|' ? std::string("\\|") : std::string(1, each);
  if (code.empty()) return "";
  const std::string fence(longest_run(code, 0) + 1, '`');
  const char* const blank = fence.size() > 1 ? " " : "";
  return fence + blank + code + blank + fence;
}

std::string markdown_block(std::string_view text, std::string_view language) {
  const std::string lines = printable_lines(text);
  const std::string fence(longest_run(lines, 2) + 1, '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, language, lines, lines.ends_with('\n') ? "" : "\n", fence);
}

namespace {

std::string number_text(double number, Unit unit) {
  const auto whole = [&] { return static_cast<std::uint64_t>(std::llround(number)); };
  switch (unit) {
    case Unit::kCount:
      return format_count(whole());
    case Unit::kBytes:
      return format_size(whole());
    case Unit::kNs:
      return format_ns(number);
    case Unit::kRatio:
      return format_ratio(number);
    case Unit::kPercent:
      return format_percent(number);
    case Unit::kWholePercent:
      return format_whole_percent(number);
    case Unit::kText:
    case Unit::kNumber:
      break;
  }
  return format_number(number);
}

}  // namespace

std::size_t shown_width(const std::string& utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char each) { return (each & 0xC0) != 0x80; }));
}

Column right_text(std::string name, std::size_t width, std::size_t gap, std::string missing) {
  return {std::move(name), Unit::kText, width, std::move(missing), std::nullopt, gap, Column::Side::kRight};
}

Cell Cell::not_available() {
  Cell cell;
  cell.value_ = Missing{};
  return cell;
}

Cell Cell::colored(std::string word) {
  Cell cell;
  cell.value_ = Colored{std::move(word)};
  return cell;
}

Cell Cell::code(std::string text) {
  Cell cell;
  cell.value_ = Code{std::move(text)};
  return cell;
}

bool Cell::is_zero() const {
  const auto* number = std::get_if<double>(&value_);
  return number != nullptr && *number == 0;
}

std::string Cell::text(Unit unit, const std::string& missing) const {
  if (const auto* text = std::get_if<std::string>(&value_)) return printable(*text);
  if (const auto* number = std::get_if<double>(&value_)) return number_text(*number, unit);
  if (const auto* colored = std::get_if<Colored>(&value_)) return colored->word;
  if (const auto* code = std::get_if<Code>(&value_)) return printable(code->text);
  return std::holds_alternative<Missing>(value_) ? missing : "";
}

std::string Cell::raw() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  if (const auto* code = std::get_if<Code>(&value_)) return code->text;
  const auto* number = std::get_if<double>(&value_);
  return number != nullptr ? fmt::format("{}", *number) : "";
}

std::string Cell::markdown(Unit unit, const std::string& missing) const {
  const auto* code = std::get_if<Code>(&value_);
  return code != nullptr ? markdown_code(code->text) : markdown_escaped(text(unit, missing));
}

void Table::add(std::vector<Cell> cells) {
  if (cells.size() > columns_.size()) throw std::invalid_argument("a row has more cells than the table has columns");
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), ""});
}

void Table::note(std::string line) { rows_.push_back({{}, std::move(line)}); }

bool Table::is_right(const Column& column) const {
  return column.side == Column::Side::kByUnit ? column.unit != Unit::kText : column.side == Column::Side::kRight;
}

std::string Table::cell_text(const Row& row, std::size_t column, Writer writer) const {
  const Column& how = columns_[column];
  const Cell& cell = row.cells[column];
  return how.zero && cell.is_zero() ? *how.zero : (cell.*writer)(how.unit, how.missing);
}

std::vector<std::size_t> Table::widths(bool header, Writer writer) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = std::max(columns_[i].width, header ? shown_width(columns_[i].name) : 0);
    for (const Row& row : rows_) {
      if (!row.cells.empty()) width = std::max(width, shown_width(cell_text(row, i, writer)));
    }
    widths.push_back(width);
  }
  return widths;
}

std::string Table::padded(std::size_t column, const std::string& words, std::size_t width) const {
  const std::string pad(width - std::min(width, shown_width(words)), ' ');
  return is_right(columns_[column]) ? pad + words : words + pad;
}

std::string Table::text(bool header, std::size_t most) const {
  const std::vector<std::size_t> wide = widths(header, &Cell::text);
  const auto line = [&](auto cell) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text += (i == 0 ? "" : std::string(columns_[i].gap, ' ')) + padded(i, cell(i), wide[i]);
    }
    return text.erase(text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = header ? line([&](std::size_t i) { return columns_[i].name; }) : "";
  const std::size_t shown = most;
  for (const Row& row : rows_) {
    if (most-- == 0) return text + fmt::format("and {}\n", format_counted(rows_.size() - shown, "more row"));
    text += row.cells.empty() ? row.note + (row.note.ends_with('\n') ? "" : "\n")
                              : line([&](std::size_t i) { return cell_text(row, i, &Cell::text); });
  }
  return text;
}

std::string Table::markdown(bool aligned) const {
  const std::vector<std::size_t> wide =
      aligned ? widths(true, &Cell::markdown) : std::vector<std::size_t>(columns_.size());
  const auto line = [&](auto cell) {
    std::string text = "|";
    for (std::size_t i = 0; i < columns_.size(); ++i) text += " " + padded(i, cell(i), wide[i]) + " |";
    return text + "\n";
  };
  std::string text = line([&](std::size_t i) { return markdown_escaped(columns_[i].name); }) + "|";
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string rule(aligned ? wide[i] + 1 : 3, '-');
    text += is_right(columns_[i]) ? rule + ":|" : (aligned ? ":" : "") + rule + "|";
  }
  text += "\n";
  for (const Row& row : rows_) {
    if (!row.cells.empty()) text += line([&](std::size_t i) { return cell_text(row, i, &Cell::markdown); });
  }
  return text;
}

std::string Table::csv() const {
  std::string text;
  for (std::size_t i = 0; i < columns_.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(columns_[i].name);
  text += "\n";
  for (const Row& row : rows_) {
    if (row.cells.empty()) continue;
    for (std::size_t i = 0; i < columns_.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(row.cells[i].raw());
    text += "\n";
  }
  return text;
}

}  // namespace zerotax
