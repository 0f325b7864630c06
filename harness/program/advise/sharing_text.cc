// Parts of the answer to the goal shared.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "advise/result.h"
#include "base/names.h"
#include "base/units.h"

namespace zerotax::advise {
namespace {

/// Returns the copies of the unchanged program, or nullptr if they are unknown.
const Copies* usual_copies(const AdviceResult& advice) {
  const Measured<Figures>& figures = advice.present.figures;
  return figures && figures->copies && figures->copies->copied_bytes ? &*figures->copies : nullptr;
}

}  // namespace

std::string copies_text(const Copies& copies) {
  const std::uint64_t all = copies.copied_bytes.value_or(0);
  const std::uint64_t others = all - std::min(all, copies.by_first_bytes);
  return fmt::format(
      "The first process copies {}, and {} {}.", format_size(copies.by_first_bytes),
      copies.forks == 1 ? "the forked process" : format_counted(copies.forks, "forked process", "forked processes"),
      format_size(others));
}

std::string sharing_headline(const AdviceResult& advice) {
  const Copies* const copies = usual_copies(advice);
  const std::string& sentence = advice.recommendation.sentence;
  if (copies == nullptr || advice.recommendation.kind != AdviceKind::kNothingHelps) return sentence;
  const std::vector<std::string>& words = advice.program.words;
  return fmt::format("{} copies {} after {}. {}", words.empty() ? "The program" : file_name(words.front()),
                     format_size(*copies->copied_bytes), format_counted(copies->forks, "fork"), sentence);
}

std::string sharing_where(const AdviceResult& advice) {
  const Copies* const copies = usual_copies(advice);
  const bool some = copies != nullptr && advice.recommendation.kind != AdviceKind::kNothingToGain;
  return some ? copies_text(*copies) : "";
}

std::string sharing_limit(const AdviceResult& advice) {
  const Copies* const copies = usual_copies(advice);
  if (copies == nullptr || copies->seen == CopiesSeen::kAll) return "";
  std::string text =
      "Without root, copies within system calls are not seen, and copies are recognized by the pages that processes "
      "share.";
  if (copies->at_most_bytes) {
    text += fmt::format(" The unchanged program copies at most {} in user mode.", format_size(*copies->at_most_bytes));
  }
  return text;
}

std::string saved_text(const AdviceResult& advice, const TriedRemedy& remedy) {
  const Copies* const copies = usual_copies(advice);
  if (copies == nullptr || !remedy.ratios.shared) return "n/a";
  const double saved = static_cast<double>(*copies->copied_bytes) * (1 - remedy.ratios.shared->median);
  return (saved < 0 ? "-" : "") + format_size(static_cast<std::uint64_t>(std::abs(saved)));
}

}  // namespace zerotax::advise
