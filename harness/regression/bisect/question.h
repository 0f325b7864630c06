#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "bisect/expectation.h"
#include "bisect/versions.h"

namespace zerotax::bisect {

struct Difference {
  RESULT("difference",
         "Differences between two versions. Every repeated measurement of both versions showed each change.");
  FIELD(Verdict, verdict, "The verdict on the changes, in the words of zerotax check.");
  FIELD(std::string, sentence, "The verdict in words.");
  FIELD(std::vector<std::string>, changes, "Each metric and threshold that changed, with its value before and after.");
  FIELD(std::vector<std::string>, unsteady, "Names of metrics that differed in some measurements, but not in all.");
  bool passes = true;  ///< whether `check` would exit with 0

  [[nodiscard]] bool is_change() const { return !changes.empty(); }
};

/// Compares two measured versions, or the runs of two versions of a program. Points that differ are measured again,
/// first for the later version (as check does), then for the earlier version. A point that varies is not a change.
/// Throws Stop.
Difference difference_between(const Versions& versions, Version& before, Version& after, const Grid& grid,
                              const Watch& watch);

/// The question that each version of a bisection answers.
struct Question {
  std::optional<Expectation> expect;                 ///< if absent, the question is whether the version behaves like
                                                     ///< the good version
  std::optional<ProgramExpectation> expect_program;  ///< the expectation for a program
  Place place;                                       ///< the point at which the expectation is measured
  Grid grid;                                         ///< the measurements that are compared with the good version
  Commit good;

  [[nodiscard]] bool is_of_a_point() const { return expect && expect->is_of_a_point(); }
};

/// The answer of a version.
struct Answer {
  enum class Kind { kGood, kBad, kUnknown };
  Kind kind = Kind::kUnknown;
  std::string value;  ///< the measured value, or why there is none
};

ENUM_WORDS(Answer::Kind, "good", "bad", "skipped")

/// Returns words such as "zeroed_bytes == 0", or "as good".
std::string text_of(const Question& question);

/// Builds a version and returns its answer. Throws Stop.
Answer ask(const Versions& versions, const Commit& commit, const Question& question, const Watch& watch);

}  // namespace zerotax::bisect
