#include "bisect/question.h"

#include <fmt/format.h>

namespace zerotax::bisect {
namespace {

Answer compared_with_good(const Versions& versions, const Commit& commit, const Question& question,
                          const std::function<void(const char* what)>& watch) {
  Version good = versions.measured(question.good, question.grid, watch);
  if (!good.measurement) return {Answer::Kind::kUnknown, "the good version: " + why_not(good)};
  if (commit.id == question.good.id) return {Answer::Kind::kGood, "it is the good version"};
  Version version = versions.measured(commit, question.grid, watch);
  if (!version.measurement) return {Answer::Kind::kUnknown, why_not(version)};
  const Difference difference = difference_between(versions, good, version, question.grid, watch);
  return {difference.passes ? Answer::Kind::kGood : Answer::Kind::kBad, difference.sentence};
}

Answer answer_of(const Observed& observed) {
  if (!observed.known) return {Answer::Kind::kUnknown, observed.value};
  return {observed.holds ? Answer::Kind::kGood : Answer::Kind::kBad, observed.value};
}

}  // namespace

const char* word_of(Answer::Kind kind) {
  return kind == Answer::Kind::kGood ? "good" : kind == Answer::Kind::kBad ? "bad" : "skipped";
}

std::string text_of(const Question& question) {
  if (question.expect_program) return question.expect_program->text();
  return question.expect ? question.expect->text() : "as " + question.good.name();
}

Answer ask(const Versions& versions, const Commit& commit, const Question& question,
           const std::function<void(const char* what)>& watch) {
  if (question.expect_program) {
    const Version measured = versions.measured(commit, question.grid, watch);
    if (!measured.measurement) return {Answer::Kind::kUnknown, why_not(measured)};
    return answer_of(question.expect_program->observe(*measured.measurement->program));
  }
  if (!question.expect) return compared_with_good(versions, commit, question, watch);
  Version version;
  version.commit = commit;
  const auto allocator = versions.allocator_of(version, watch);
  if (!allocator) return {Answer::Kind::kUnknown, why_not(version)};
  watch("measuring");
  return answer_of(question.expect->observe(*allocator, question.place));
}

}  // namespace zerotax::bisect
