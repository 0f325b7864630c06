#pragma once

#include <optional>
#include <string>

#include "bisect/difference.h"
#include "bisect/expectation.h"
#include "bisect/program_expectation.h"

namespace zerotax::bisect {

/// What is asked of each version of a bisection.
struct Question {
  std::optional<Expectation> expect;                 ///< nothing: does it do what the good version does?
  std::optional<ProgramExpectation> expect_program;  ///< the same of a program
  Place place;                                       ///< where the expectation is measured
  Grid grid;                                         ///< what is compared with the good version
  Commit good;

  [[nodiscard]] bool is_of_a_point() const { return expect && expect->is_of_a_point(); }
};

/// What a version says to it.
struct Answer {
  enum class Kind { kGood, kBad, kUnknown };
  Kind kind = Kind::kUnknown;
  std::string value;  ///< what was measured, or why nothing was
};

/// "good", "bad", "skipped".
const char* word_of(Answer::Kind kind);

/// "zeroed_bytes == 0", or "as good".
std::string text_of(const Question& question);

/// Builds a version and asks it. Throws Stop.
Answer ask(const Versions& versions, const Commit& commit, const Question& question,
           const std::function<void(const char* what)>& watch);

}  // namespace zerotax::bisect
