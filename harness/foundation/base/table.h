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

/// The meaning of a word: colour shows nothing else.
enum class Tone { kWorse, kBetter, kDoubtful };

/// Colours words by what they say, or leaves them alone.
class Palette {
 public:
  /// Leaves every word alone: what stands in a file or a pipe.
  Palette() = default;
  explicit Palette(bool coloured) : coloured_(coloured) {}

  /// The word in red, green or yellow and bold (ECMA-48: SGR), which a terminal shows as wide as before: pad it first.
  /// Blanks around it stay outside.
  [[nodiscard]] std::string operator()(Tone tone, std::string_view word) const;
  /// A text whose lines are made already, with the first place of the word coloured.
  [[nodiscard]] std::string first_in(std::string text, Tone tone, std::string_view word) const;

 private:
  bool coloured_ = false;
};

/// Text as a field of comma-separated values (RFC 4180). The text is made printable (base/printable.h). A field with a
/// comma or a quote is put in quotes, and its quotes are doubled.
inline std::string csv_field(const std::string& raw) {
  std::string text = printable(raw);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

/// Escapes text so that a line or a table cell of GitHub's Markdown shows it unchanged. The text makes no markup, link,
/// image, mention or reference. It is made printable (base/printable.h) if it is not yet.
std::string markdown_escaped(std::string_view text);

/// The text as code in a line or a cell of a table.
std::string markdown_code(std::string_view text);

/// A block that shows lines of text word for word, within a fence that is longer than any in the text. `language`
/// colors the block.
std::string markdown_block(std::string_view text, std::string_view language = "text");

/// The unit of a column: how its numbers are written for people (base/units.h).
enum class Unit { kText, kCount, kBytes, kNs, kNumber, kRatio, kPercent, kWholePercent };

/// One field of a table: text (made printable, see base/printable.h), a number in the unit of its column, n/a, or
/// nothing.
class Cell {
 public:
  Cell() = default;
  Cell(std::string text) : value_(std::move(text)) {}
  Cell(const char* text) : value_(std::string(text)) {}
  template <typename T>
  requires std::integral<T> || std::floating_point<T> Cell(T number) : value_(static_cast<double>(number)) {}
  template <typename T>
  Cell(const Measured<T>& measured) : Cell(measured ? Cell(*measured) : not_available()) {}
  /// Nothing is left blank.
  template <typename T>
  Cell(const std::optional<T>& value) : Cell(value ? Cell(*value) : Cell()) {}

  static Cell not_available();
  /// A word that contains the codes of its color. The table shows it unchanged, so it must not come from outside.
  static Cell colored(std::string word);
  /// Text that Markdown shows as code.
  static Cell code(std::string text);

  [[nodiscard]] bool is_zero() const;
  /// For people, and (`raw`) for programs: numbers without a unit. Blank: "".
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
  /// Characters at least; the widest cell decides otherwise.
  std::size_t width = 0;
  /// What stands for n/a, and for 0.
  std::string missing = "n/a";
  std::optional<std::string> zero = std::nullopt;
  /// Blank characters before it.
  std::size_t gap = 1;
  /// Text is at the left side, numbers at the right one; a text column of numbers made of words says kRight.
  enum class Side { kByUnit, kLeft, kRight } side = Side::kByUnit;
};

/// The only renderer of rows and columns.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Cells that are left out at the end are blank. Throws std::invalid_argument for more cells than columns.
  void add(std::vector<Cell> cells);
  /// A line of its own below the last row, unchanged, or several, as wrap makes them; not in markdown or csv.
  void note(std::string line);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Lines for a terminal, each ended by a line break, without trailing blanks. `header`: with the names of the
  /// columns.
  [[nodiscard]] std::string text(bool header = true) const;
  /// A table of GitHub's Markdown; `aligned`: that reads well as text, too.
  [[nodiscard]] std::string markdown(bool aligned = false) const;
  /// RFC 4180, numbers without units.
  [[nodiscard]] std::string csv() const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::string note;
  };
  [[nodiscard]] bool is_right(const Column& column) const;
  /// The function that writes a cell or a column's name.
  using Writer = std::string (Cell::*)(Unit, const std::string&) const;
  [[nodiscard]] std::string cell_text(const Row& row, std::size_t column, Writer writer) const;
  [[nodiscard]] std::vector<std::size_t> widths(bool header, Writer writer) const;
  [[nodiscard]] std::string padded(std::size_t column, const std::string& words, std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Characters that a terminal shows for a text: code points, for none of ours is wide.
std::size_t shown_width(const std::string& utf8);

}  // namespace zerotax
