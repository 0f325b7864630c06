#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "bisect/expectation.h"
#include "bisect/versions.h"

namespace zerotax::bisect {

/// What one version does otherwise than another.
struct Difference {
  std::vector<std::string> changes;   ///< that lasted when both were measured again, a line each
  std::vector<std::string> unsteady;  ///< names of metrics that differed once, and not again
  std::string verdict;                ///< as `check` has it
  bool passes = true;                 ///< `check` would exit with 0
  std::string sentence;

  [[nodiscard]] bool is_change() const { return !changes.empty(); }
};

/// Compares two measured versions; of a program, what their runs showed. Points that differ are measured again, for the
/// later version as check does, and then for the earlier one: if a point is not the same each time, it is no change.
/// Throws Stop.
Difference difference_between(const Versions& versions, Version& before, Version& after, const Grid& grid,
                              const Watch& watch);

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
Answer ask(const Versions& versions, const Commit& commit, const Question& question, const Watch& watch);

}  // namespace zerotax::bisect
