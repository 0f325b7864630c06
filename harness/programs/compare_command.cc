#include <fmt/format.h>

#include <algorithm>

#include "cli/colour.h"
#include "cli/common_options.h"
#include "files/output_paths.h"
#include "os/print.h"
#include "programs/document.h"
#include "programs/programs.h"
#include "programs/table.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::programs {
namespace {

constexpr std::size_t kMostPairs = 200;

/// The words before and after ---.
std::pair<std::vector<std::string>, std::vector<std::string>> both_commands(const std::vector<std::string>& words) {
  const auto between = std::find(words.begin(), words.end(), "---");
  if (between == words.begin() || between == words.end() || between + 1 == words.end()) {
    throw UsageError("two commands are compared, with --- between them",
                     "give them as in: zerotax compare -- ./old input --- ./new input");
  }
  return {{words.begin(), between}, {between + 1, words.end()}};
}

void add_settings(const std::vector<std::string>& env, Target& before, Target& after) {
  for (const std::string& word : env) {
    const EnvWord parsed = parse_env_word(word);
    if (parsed.allocator != "old" && parsed.allocator != "new") {
      throw UsageError(fmt::format("--env names '{}', which is neither old nor new", parsed.allocator),
                       fmt::format("give --env new:{}={}", parsed.key, parsed.value));
    }
    add_setting(parsed, parsed.allocator == "old" ? before : after);
  }
}

}  // namespace

ExitStatus compare(const std::vector<std::string>& words, const std::vector<std::string>& env,
                   std::optional<std::int64_t> pairs, double timeout_s, bool explain, const ExchangeOptions& exchange) {
  const auto [old_words, new_words] = both_commands(words);
  std::vector<Target> targets = targets_for({old_words, new_words}, timeout_s);
  Target& before = targets.front();
  Target& after = targets.back();
  add_settings(env, before, after);
  const auto count = static_cast<std::size_t>(pairs.value_or(kUsualPairs));
  if (pairs && (*pairs < static_cast<std::int64_t>(fewest_timed_pairs()) || count > kMostPairs)) {
    throw UsageError(fmt::format("--rounds {} cannot prove anything", *pairs),
                     fmt::format("give {} to {}", fewest_timed_pairs(), kMostPairs));
  }
  std::vector<NamedPath> inputs = program_input(old_words);
  for (const NamedPath& input : program_input(new_words)) inputs.push_back(input);
  check_outputs(exchange.outputs(), inputs);
  const Comparison comparison = compare_commands(before, after, count);
  const exchange::OutcomeList outcomes = compare_outcomes(comparison);
  if (!exchange.silent()) print_lines(stdout, compare_text(comparison, explain, palette_for(stdout)));
  exchange.print_annotations(outcomes);
  exchange.write(outcomes, compare_json(comparison));
  if (!comparison.complete) say_interrupted("times are of the pairs measured so far");
  return comparison.passed ? ExitStatus::kDone : ExitStatus::kFinding;
}

}  // namespace zerotax::programs
