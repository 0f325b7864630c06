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

/// The options for files that other programs read. All commands with a verdict have these options: --json, --junit,
/// --markdown, --bmf, --github, and --html if the command has a page. "-" means standard output; only one option may
/// name it.
class ExchangeOptions {
 public:
  /// Adds all options but --html, and starts the clock for the duration that JUnit reports.
  void add(Arguments& arguments);
  void add_html(Arguments& arguments);

  /// The files to write, for check_outputs. --github counts as standard output.
  [[nodiscard]] std::vector<NamedPath> outputs() const;
  /// Throws MachineError if --html is given and this machine cannot make a page. Call it before measuring.
  void check_page() const;
  /// Whether a document goes to standard output, where the text for people would spoil it.
  [[nodiscard]] bool silent() const;
  /// Prints the text for people unless silent(), prints the annotations, and writes the files.
  void publish(const exchange::OutcomeList& list, const Json& document, const std::string& text) const;
  /// Writes every requested file. `document` is the JSON of the command, from which the page is made.
  void write(const exchange::OutcomeList& list, const Json& document) const;
  /// Prints the annotations of --github. Must be called after the text for people was printed.
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
