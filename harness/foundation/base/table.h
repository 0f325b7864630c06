#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/measured.h"
#include "base/printable.h"

namespace zerotax {

/// Reasons to print a word in color.
enum class Tone { kWorse, kBetter, kDoubtful };

/// Colors words by their tone, or leaves words unchanged.
class Palette {
 public:
  /// Leaves every word unchanged, for text in a file or a pipe.
  Palette() = default;
  explicit Palette(bool coloured) : coloured_(coloured) {}

  /// Returns the word in bold red, green or yellow (ECMA-48: SGR). The displayed width stays the same, but the length
  /// in bytes grows, so pad the word first. Surrounding blanks are not colored.
  [[nodiscard]] std::string operator()(Tone tone, std::string_view word) const;
  /// Colors the first occurrence of the word in a text that is already laid out.
  [[nodiscard]] std::string first_in(std::string text, Tone tone, std::string_view word) const;

 private:
  bool coloured_ = false;
};

/// Returns text as a field of comma-separated values (RFC 4180). The text is made printable (base/printable.h). A field
/// with a comma or a quote is put in quotes, and its quotes are doubled.
inline std::string csv_field(const std::string& raw) {
  std::string text = printable(raw);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

/// Escapes text so that a line or a table cell of GitHub's Markdown shows it unchanged, without markup, links, images,
/// mentions or references. Text that is not yet printable is made printable (base/printable.h).
std::string markdown_escaped(std::string_view text);

/// Returns the text as code for a line or a table cell.
std::string markdown_code(std::string_view text);

/// Returns a block that shows lines of text unchanged, within a fence that is longer than any fence in the text.
/// `language` selects its syntax coloring.
std::string markdown_block(std::string_view text, std::string_view language = "text");

/// The unit of a column. The unit decides how the column's numbers are displayed (base/units.h).
enum class Unit { kText, kCount, kBytes, kNs, kNumber, kRatio, kPercent, kWholePercent };

/// One field of a table: text (made printable, see base/printable.h), a number in the unit of its column, n/a, or
/// blank.
class Cell {
 public:
  Cell() = default;
  Cell(std::string text) : value_(std::move(text)) {}
  Cell(const char* text) : value_(std::string(text)) {}
  template <typename T>
  requires std::integral<T> || std::floating_point<T> Cell(T number) : value_(static_cast<double>(number)) {}
  template <typename T>
  Cell(const Measured<T>& measured) : Cell(measured ? Cell(*measured) : not_available()) {}
  /// An absent value becomes a blank cell.
  template <typename T>
  Cell(const std::optional<T>& value) : Cell(value ? Cell(*value) : Cell()) {}

  static Cell not_available();
  /// Holds a word of zerotax's own that contains color codes. The table prints this word unchanged.
  static Cell colored(std::string word);
  /// Holds text that Markdown shows as code.
  static Cell code(std::string text);

  [[nodiscard]] bool is_zero() const;
  /// text() is for people; raw() is for programs and has no units. Both return "" for a blank cell.
  [[nodiscard]] std::string text(Unit unit, const std::string& missing) const;
  [[nodiscard]] std::string raw() const;
  [[nodiscard]] std::string markdown(Unit unit, const std::string& missing) const;

 private:
  struct Missing {};
  struct Colored {
    std::string word;
  };
  struct Code {
    std::string text;
  };
  std::variant<std::monostate, std::string, double, Missing, Colored, Code> value_;
};

struct Column {
  std::string name;
  Unit unit = Unit::kText;
  /// Minimum width in characters. A wider cell widens the column.
  std::size_t width = 0;
  /// Text shown in place of n/a, and text shown in place of 0.
  std::string missing = "n/a";
  std::optional<std::string> zero = std::nullopt;
  /// Number of blanks before the column.
  std::size_t gap = 1;
  /// Text is aligned to the left and numbers to the right. A text column of formatted numbers needs kRight.
  enum class Side { kByUnit, kLeft, kRight } side = Side::kByUnit;
};

/// A column of numbers that the caller has already formatted as text, aligned to the right.
Column right_text(std::string name, std::size_t width = 0, std::size_t gap = 1, std::string missing = "n/a");

/// The only class that lays out rows and columns.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row. Cells omitted at the end are blank. Throws std::invalid_argument if there are more cells than columns.
  void add(std::vector<Cell> cells);
  /// Adds a line, or several lines as returned by wrap, below the last row. Markdown and CSV omit these lines.
  void note(std::string line);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }

  /// Returns lines for a terminal, each ended by a line break, without trailing blanks. `header` adds the names of the
  /// columns. Shows the first `most` rows, and a line that reports how many more rows there are.
  [[nodiscard]] std::string text(bool header = true, std::size_t most = SIZE_MAX) const;
  /// Returns a table in GitHub's Markdown. `aligned` pads the cells, so that the table is also readable as plain text.
  [[nodiscard]] std::string markdown(bool aligned = false) const;
  /// Returns comma-separated values (RFC 4180), with numbers without units.
  [[nodiscard]] std::string csv() const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::string note;
  };
  [[nodiscard]] bool is_right(const Column& column) const;
  /// A function that writes a cell or a column's name.
  using Writer = std::string (Cell::*)(Unit, const std::string&) const;
  [[nodiscard]] std::string cell_text(const Row& row, std::size_t column, Writer writer) const;
  [[nodiscard]] std::vector<std::size_t> widths(bool header, Writer writer) const;
  [[nodiscard]] std::string padded(std::size_t column, const std::string& words, std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Returns the number of characters that a terminal shows for a text, by counting code points. None of our characters
/// is wide.
std::size_t shown_width(const std::string& utf8);

}  // namespace zerotax
