#include "base/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/lines.h"
#include "base/shell.h"
#include "base/units.h"
#include "prove/result.h"

namespace zerotax::prove {
namespace {

constexpr std::size_t kLongestName = 22;
/// Number of allocators that the headline names.
constexpr std::size_t kMostNames = 4;

/// Broken promises come first.
std::vector<const Proof*> ranked(const Proofs& proofs) {
  std::vector<const Proof*> all;
  for (const Proof& each : proofs.proofs) all.push_back(&each);
  std::stable_sort(all.begin(), all.end(), [](const Proof* one, const Proof* other) {
    return one->finding.has_value() > other->finding.has_value();
  });
  return all;
}

std::uint64_t operations_named(const Coverage& coverage, const std::string& name) {
  const auto found = std::find_if(coverage.operations.begin(), coverage.operations.end(),
                                  [&](const NamedCount& each) { return each.name == name; });
  return found == coverage.operations.end() ? 0 : found->count;
}

/// One row for each allocator.
Table allocators(const std::vector<const Proof*>& proofs) {
  Table table({{"allocator", Unit::kText, 10},
               {"promises"},
               {"calls", Unit::kCount, 10},
               {"zeroing", Unit::kCount, 9},
               {"of reused", Unit::kCount, 9},
               {"forks", Unit::kCount, 6},
               {"verified", Unit::kBytes, 9}});
  for (const Proof* each : proofs) {
    const Coverage& coverage = each->coverage;
    table.add({first_characters(each->name(), kLongestName),
               each->verdict == ProofVerdict::kFound ? "broken" : word(each->verdict),
               operations_named(coverage, "call"), coverage.zeroing_calls, coverage.all_reused(),
               operations_named(coverage, "fork"), coverage.checked_bytes});
  }
  return table;
}

std::string headline(const Proofs& proofs) {
  if (proofs.proofs.empty()) return "No allocator was tested.";
  if (proofs.proofs.size() == 1) return proofs.proofs.front().sentence;
  std::vector<std::string> broken;
  for (const Proof& each : proofs.proofs) {
    if (each.finding) broken.push_back(each.name());
  }
  const auto clean = std::count_if(proofs.proofs.begin(), proofs.proofs.end(),
                                   [](const Proof& each) { return each.verdict == ProofVerdict::kClean; });
  const std::string kept = fmt::format("{} of {} kept {} promises", clean,
                                       format_counted(proofs.proofs.size(), "allocator"), clean == 1 ? "its" : "their");
  if (broken.empty()) return fmt::format("{}, within the extent that the table shows.", kept);
  if (broken.size() > kMostNames) return fmt::format("{} allocators broke a promise; {}.", broken.size(), kept);
  return fmt::format("{} broke a promise; {}.", fmt::join(broken, ", "), kept);
}

/// Returns the command that shows a finding again, and a text above the command.
std::vector<Answer::Step> steps(const Proof& proof, const std::string& folder) {
  if (!proof.finding || !proof.finding->program) return {};
  const FindingProgram& program = *proof.finding->program;
  if (folder.empty()) {
    return {{"zerotax prove --read FILE --out DIR", "write a program that breaks the promise (FILE is from --json):"}};
  }
  return {{fmt::format("cd {} && {}", shell_word(folder), program.how),
           fmt::format("run the program that breaks the promise in {}:", format_counted(program.calls, "call"))}};
}

std::string where(const Proof& proof) {
  const ProofFinding& finding = *proof.finding;
  std::string text =
      fmt::format("A sequence of {} broke the promise{}.", format_counted(finding.operations, "operation"),
                  finding.reduced ? fmt::format(", and was reduced to {}", format_count(*finding.reduced)) : "");
  if (!finding.program) return text + fmt::format(" No program was written: {}.", finding.program.why());
  const FindingProgram& program = *finding.program;
  if (!program.shows) return text + fmt::format(" The program was not tried: {}.", program.shows.why());
  if (!*program.shows) return text + " Compiled as a program, the sequence does not break the promise.";
  return text + fmt::format(" The program breaks the promise under {}, and {} under the C library's own allocator.",
                            proof.name(), program.control_shows.value_or(false) ? "also" : "not");
}

}  // namespace

Answer prove_answer(const Proofs& proofs, const std::string& folder) {
  Answer answer{.headline = headline(proofs)};
  const std::vector<const Proof*> all = ranked(proofs);
  if (all.empty()) return answer;
  answer.table = allocators(all);
  const Proof& first = *all.front();
  if (first.finding) {
    // With one allocator, the headline is the first sentence.
    answer.where = (proofs.proofs.size() > 1 ? first.sentence + " " : "") + where(first);
    answer.steps = steps(first, folder);
  }
  for (const Proof* each : all) {
    if (each->verdict == ProofVerdict::kUntested && all.size() > 1) answer.warnings.push_back(each->sentence);
    if (each->coverage.crashes_at_limit == 0) continue;
    answer.warnings.push_back(fmt::format("{} crashed {} near a memory limit, which breaks no promise.", each->name(),
                                          format_counted(each->coverage.crashes_at_limit, "time")));
  }
  answer.legend =
      "zeroing: calls that promise zeros. of reused: on memory that was freed before. A clean verdict covers only this "
      "extent.";
  answer.more = "Sizes, threads and histories that were reached";
  return answer;
}

}  // namespace zerotax::prove
