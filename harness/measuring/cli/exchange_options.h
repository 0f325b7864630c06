#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/arguments.h"
#include "exchange/outcome.h"
#include "files/output_file.h"
#include "judge/comparison.h"

namespace zerotax {

/// The outcome of one change, and of all changes of a comparison. A mixed comparison counts as worse, as in the exit
/// status.
exchange::OutcomeKind kind_of(Direction direction);
exchange::OutcomeKind kind_of(Verdict verdict);

/// The files that other programs read, which commands with a verdict have in common: --json, --junit, --markdown,
/// --bmf, --github, and --html of those that have a page. "-" is standard output for each; one alone may be that.
class ExchangeOptions {
 public:
  /// All but --html. The time that JUnit reports runs from here.
  void add(Arguments& arguments);
  void add_html(Arguments& arguments);

  /// What is written, for check_outputs; --github writes standard output.
  [[nodiscard]] std::vector<NamedPath> outputs() const;
  /// Throws MachineError if --html is given and no page can be made here. Before anything is measured.
  void check_page() const;
  /// Whether a document stands on standard output, where the text for people would spoil it.
  [[nodiscard]] bool silent() const;
  /// Prints the text for people, unless silent, and the annotations; and writes the files.
  void publish(const exchange::OutcomeList& list, const Json& document, const std::string& text) const;
  /// Writes every file that was asked for. `document`: the JSON of the command, which the page is made from.
  void write(const exchange::OutcomeList& list, const Json& document) const;
  /// The annotations of --github, after the text for people.
  void print_annotations(const exchange::OutcomeList& list) const;

 private:
  std::string json_;
  std::string junit_;
  std::string markdown_;
  std::string bmf_;
  std::string html_;
  bool github_ = false;
  std::chrono::steady_clock::time_point begin_{};
};

}  // namespace zerotax
