#include "compare/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/fields.h"
#include "base/names.h"
#include "base/paired_times.h"
#include "base/statistics.h"
#include "base/units.h"
#include "base/wrap.h"
#include "baseline/document.h"
#include "baseline/result.h"
#include "baseline/table.h"
#include "cli/common_options.h"
#include "cli/terminal_options.h"
#include "compare/options.h"
#include "os/print.h"
#include "run/allocators.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::compare {
namespace {

constexpr std::uint64_t kMostRuns = 10;
constexpr std::size_t kTimes = 2;
constexpr std::uint64_t kSeed = 20'161'212;

/// One side of a comparison while it is recorded.
struct Recorded {
  const record::runs::Target& target;
  baseline::Program program{};
  baseline::Gathering gathering{program};
  std::string allocator{};

  void record() {
    const record::runs::CommandRun run = record::runs::run_once(target);
    baseline::check_exit_status(run, target.name, 0, "give commands that succeed without a terminal and input");
    gathering.add(run);
    allocator = run.allocator;
  }
};

/// Both, in turn. Throws Stop.
void record_both(Recorded& before, Recorded& after) {
  const std::size_t expected = 2 * baseline::gather_runs(0);
  Experiment experiment("recording both");
  experiment.expect(expected, static_cast<double>(expected));
  std::vector<Item> round;
  for (Recorded* side : {&before, &after}) {
    static_cast<record::runs::Command&>(side->program) = side->target;
    round.emplace_back().measure = [side](const Say&) { side->record(); };
  }
  while (before.program.runs < kMostRuns && !(before.gathering.is_done() && after.gathering.is_done())) {
    if (!experiment.run(round)) throw Stop{};
  }
  for (Recorded* side : {&before, &after}) side->program.measured_on = baseline::conditions_now(side->allocator);
}

/// The pairs of which both runs finished, and whether those are all.
std::pair<std::vector<TimedPair>, bool> time_pairs(const record::runs::Target& before,
                                                   const record::runs::Target& after, std::size_t count) {
  // The first pair is a warm-up: files come from the page cache from then on.
  std::vector<TimedPair> pairs(count + 1);
  std::size_t timed = 0;
  std::vector<Item> items;
  PairOrder order(kSeed);
  for (TimedPair& pair : pairs) {
    const bool before_first = order.first_goes_first();
    for (const bool second : {false, true}) {
      items.emplace_back().measure = [&, is_before = before_first != second](const Say&) {
        const MeteredRun run =
            record::runs::run_plain(is_before ? before : after, "give a command that succeeds each time");
        const auto cpu_ns = static_cast<double>(run.user_ns + run.system_ns);
        (is_before ? pair.before_cpu_ns : pair.after_cpu_ns) = cpu_ns;
        (is_before ? pair.before_wall_ns : pair.after_wall_ns) = static_cast<double>(run.wall_ns);
      };
    }
  }
  const bool complete = Experiment("timing pairs of runs", {1, false, [&](const Item&) { ++timed; }}).run(items);
  pairs.resize(timed / 2);
  if (!pairs.empty()) pairs.erase(pairs.begin());
  return {pairs, complete};
}

/// One kind of time of all pairs, and its medians.
TimeSample sample_of(const std::vector<TimedPair>& pairs, double TimedPair::*before, double TimedPair::*after,
                     ComparedTime& time) {
  TimeSample sample;
  std::vector<double> all_before;
  std::vector<double> all_after;
  for (const TimedPair& pair : pairs) {
    sample.log_ratios.push_back(std::log(pair.*after / pair.*before));
    all_before.push_back(pair.*before);
    all_after.push_back(pair.*after);
  }
  time.before_ns = sample.old_ns = median(all_before);
  time.after_ns = median(all_after);
  return sample;
}

/// NEW with the name of OLD's own file for that of its own: the commands themselves are compared, whatever their names.
baseline::Program named_as(const baseline::Program& old, baseline::Program program) {
  const std::string before = file_name(old.command.front());
  const std::string after = file_name(program.command.front());
  const bool both = old.processes.contains(before) && program.processes.contains(after);
  if (!both || old.processes.contains(after) || program.processes.contains(before)) return program;
  auto own = program.processes.extract(after);
  own.key() = before;
  program.processes.insert(std::move(own));
  return program;
}

constexpr std::int64_t kMostTimedPairs = 200;

/// The words before and after ---.
std::pair<std::vector<std::string>, std::vector<std::string>> both_commands(const std::vector<std::string>& words) {
  const auto between = std::find(words.begin(), words.end(), "---");
  if (between == words.begin() || between == words.end() || between + 1 == words.end()) {
    throw UsageError("two commands are compared, with --- between them",
                     "give them as in: zerotax compare -- ./old input --- ./new input");
  }
  return {{words.begin(), between}, {between + 1, words.end()}};
}

void add_settings(const std::vector<std::string>& env, record::runs::Target& before, record::runs::Target& after) {
  for (const std::string& word : env) {
    const EnvWord parsed = parse_env_word(word);
    if (parsed.allocator != "old" && parsed.allocator != "new") {
      throw UsageError(fmt::format("--env names '{}', which is neither old nor new", parsed.allocator),
                       fmt::format("give --env new:{}={}", parsed.key, parsed.value));
    }
    add_setting(parsed, parsed.allocator == "old" ? before : after);
  }
}

/// Pairs of runs that are enough to prove a difference of time.
std::size_t fewest_timed_pairs() { return fewest_pairs(kTimes, CompareMethod{}.alpha); }

/// Judges what was measured of two commands.
ProgramComparison compared(const baseline::Program& before, const baseline::Program& after,
                           std::vector<TimedPair> pairs) {
  ProgramComparison comparison;
  comparison.before = before;
  comparison.after = after;
  comparison.counts =
      baseline::check_of(before, baseline::compare(before, named_as(before, after)), after.measured_on, "as OLD");
  comparison.counts.subject = after;
  comparison.pairs = std::move(pairs);
  const Verdict verdict = comparison.counts.verdict;
  comparison.passed = verdict != Verdict::kWorse && verdict != Verdict::kMixed;
  comparison.sentence = comparison.counts.sentence;
  if (comparison.pairs.empty()) return comparison;
  comparison.times = {ComparedTime{"CPU time", 0, 0, {}}, ComparedTime{"wall time", 0, 0, {}}};
  const std::vector<TimeVerdict> verdicts = judge_times(
      {sample_of(comparison.pairs, &TimedPair::before_cpu_ns, &TimedPair::after_cpu_ns, comparison.times[0]),
       sample_of(comparison.pairs, &TimedPair::before_wall_ns, &TimedPair::after_wall_ns, comparison.times[1])});
  for (std::size_t i = 0; i < kTimes; ++i) comparison.times[i].verdict = verdicts[i];
  if (verdicts[0].kind == TimeVerdict::Kind::kSlower) comparison.passed = false;
  comparison.sentence += "; " + words_of(comparison.times[0]);
  return comparison;
}

/// Records both, in turn, until neither shows anything new, and then times `pairs` pairs, in random order. A signal
/// ends it early; before anything can be compared, it throws Stop. Throws as measured() for a command that fails.
ProgramComparison compare_commands(const record::runs::Target& before, const record::runs::Target& after,
                                   std::size_t pairs) {
  Recorded old_side{before};
  Recorded new_side{after};
  record_both(old_side, new_side);
  auto [timed, complete] = time_pairs(before, after, pairs);
  ProgramComparison comparison = compared(old_side.program, new_side.program, std::move(timed));
  comparison.complete = complete;
  return comparison;
}

std::string compare_text(const ProgramComparison& comparison, bool explain, const Palette& palette) {
  const baseline::ProgramCheck& counts = comparison.counts;
  std::string text = wrap(comparison.sentence, "", "  ");
  const auto side = [&](const char* name, const baseline::Program& program) {
    text += wrap(baseline::command_text(program), fmt::format("  {}  ", name), "       ");
  };
  side("OLD", comparison.before);
  side("NEW", comparison.after);
  for (const ComparedTime& time : comparison.times) text += wrap(words_of(time), "  ", "    ");
  if (!comparison.pairs.empty()) {
    text += wrap(fmt::format("{} of runs; counts of {} and {}", format_counted(comparison.pairs.size(), "pair"),
                             format_counted(comparison.before.runs, "recorded run"),
                             format_counted(comparison.after.runs, "recorded run")),
                 "  ", "    ");
  }
  text += baseline::changes_text(counts, explain, palette) + baseline::sites_text(counts, explain) +
          not_compared_text(counts.not_compared, explain);
  return text + baseline::advice_text(counts);
}

exchange::OutcomeList compare_outcomes(const ProgramComparison& comparison) {
  exchange::OutcomeList list = baseline::check_outcomes(comparison.counts);
  list.command = "zerotax compare";
  list.sentence = comparison.sentence;
  list.subject =
      fmt::format("{} and {}", baseline::command_text(comparison.before), baseline::command_text(comparison.after));
  list.notes.clear();
  for (const ComparedTime& time : comparison.times) {
    exchange::Outcome outcome;
    outcome.suite = comparison.after.name;
    outcome.name = time.name;
    outcome.verdict = word_of(time.verdict.kind);
    outcome.headline = words_of(time);
    using enum TimeVerdict::Kind;
    outcome.kind = time.verdict.kind == kSlower   ? exchange::OutcomeKind::kWorse
                   : time.verdict.kind == kFaster ? exchange::OutcomeKind::kBetter
                   : time.verdict.kind == kSame   ? exchange::OutcomeKind::kSame
                                                  : exchange::OutcomeKind::kSkipped;
    outcome.fails = time.verdict.kind == kSlower && &time == comparison.times.data();
    list.outcomes.push_back(outcome);
  }
  if (list.kind == exchange::OutcomeKind::kSame || list.kind == exchange::OutcomeKind::kChanged) {
    if (!comparison.passed) list.kind = exchange::OutcomeKind::kWorse;
  }
  return list;
}

}  // namespace

std::string words_of(const ComparedTime& time) {
  return fmt::format("{} {} → {} ({}): {}", time.name, format_ns(time.before_ns), format_ns(time.after_ns),
                     words_of(ratio_of(time.verdict)), word_of(time.verdict.kind));
}

ExitStatus compare_programs(const Options& options, const std::vector<std::string>& words) {
  const auto [old_words, new_words] = both_commands(words);
  std::vector<record::runs::Target> targets =
      record::runs::targets_for({old_words, new_words}, options.measure.timeout_s);
  record::runs::Target& before = targets.front();
  record::runs::Target& after = targets.back();
  add_settings(options.measure.env, before, after);
  const auto fewest = static_cast<std::int64_t>(fewest_timed_pairs());
  const std::int64_t pairs = options.pairs == kNotGiven ? std::int64_t{kUsualPairs} : options.pairs;
  if (options.pairs != kNotGiven && (pairs < fewest || pairs > kMostTimedPairs)) {
    throw UsageError(fmt::format("--rounds {} cannot prove anything", pairs),
                     fmt::format("give {} to {}", fewest, kMostTimedPairs));
  }
  std::vector<NamedPath> inputs = program_input(old_words);
  for (const NamedPath& input : program_input(new_words)) inputs.push_back(input);
  check_outputs(options.exchange.outputs(), inputs);
  const ProgramComparison comparison = compare_commands(before, after, static_cast<std::size_t>(pairs));
  options.exchange.publish(compare_outcomes(comparison), compare_json(comparison),
                           compare_text(comparison, !options.explain.empty(), palette_for(stdout)));
  if (!comparison.complete) say_interrupted("times are of the pairs measured so far");
  return comparison.passed ? ExitStatus::kDone : ExitStatus::kFinding;
}

}  // namespace zerotax::compare
