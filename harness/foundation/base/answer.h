#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/table.h"

namespace zerotax {

/// The text that a command prints by default: one screen. --full prints everything (cli/terminal_options.h).
struct Answer {
  /// A command to paste into a shell, and the reason printed before it, such as "or let zerotax find a remedy:". A step
  /// without a command consists of its reason.
  struct Step {
    std::string command;
    std::string reason{};
  };
  /// The main result in whole sentences: subject, cost and cause.
  std::string headline;
  /// Rows sorted by cost, the most expensive first. The caller omits rows below 1 %.
  std::optional<Table> table = std::nullopt;
  /// The worst call site, size or process, in whole sentences.
  std::string where{};
  std::vector<Step> steps = {};
  /// Warnings in whole sentences that qualify the rest of the answer, the most serious first.
  std::vector<std::string> warnings = {};
  /// The meaning of symbols in the table, such as ~.
  std::string legend{};
  /// The contents that only --full prints: "All causes, sites and sizes". Empty if --full prints no more.
  std::string more{};
};

/// Adds a step. If the list already has steps, puts "or " in front of the new step's reason.
void add_alternative(std::vector<Answer::Step>& steps, Answer::Step step);

inline constexpr std::size_t kAnswerLines = 24;

/// Returns the answer in at most `most_lines` lines of 80 columns. Omits content that does not fit, in this order:
/// rows after the third, warnings after the first, the first warning's last sentences (…), rows after the first, the
/// legend, the first warning, and steps after the first. A line reports how many rows or warnings are missing. Texts
/// are made printable (base/printable.h).
std::string answer_text(const Answer& answer, std::size_t most_lines = kAnswerLines);

}  // namespace zerotax
