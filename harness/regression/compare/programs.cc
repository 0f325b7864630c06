#include "compare/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/lines.h"
#include "base/names.h"
#include "base/paired_times.h"
#include "base/statistics.h"
#include "base/units.h"
#include "baseline/document.h"
#include "baseline/result.h"
#include "baseline/table.h"
#include "cli/common_options.h"
#include "cli/terminal_options.h"
#include "compare/options.h"
#include "files/document.h"
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

/// One side of a comparison during recording.
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

/// Records the two commands alternately. Throws Stop.
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

/// Returns the pairs in which both runs finished, and whether those are all pairs.
std::pair<std::vector<TimedPair>, bool> time_pairs(const record::runs::Target& before,
                                                   const record::runs::Target& after, std::size_t count) {
  // The first pair is a warm-up. Later runs find their files in the page cache.
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

/// Returns the log ratios of one kind of time for all pairs, and stores the median times in `time`.
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

/// Returns NEW with the name of its program file replaced by that of OLD, because the commands are compared whatever
/// their names.
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

/// Returns the words before and after ---.
std::pair<std::vector<std::string>, std::vector<std::string>> both_commands(const std::vector<std::string>& words) {
  const auto between = std::find(words.begin(), words.end(), "---");
  if (between == words.begin() || between == words.end() || between + 1 == words.end()) {
    throw UsageError("give two commands, with --- between them",
                     "for example: zerotax compare -- ./old input --- ./new input");
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

/// Returns the number of pairs of runs that can prove a difference of time.
std::size_t fewest_timed_pairs() { return fewest_pairs(kTimes, CompareMethod{}.alpha); }

/// Judges the measurements of two commands.
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
  comparison.times.resize(kTimes);
  comparison.times[0].name = "CPU time";
  comparison.times[1].name = "wall time";
  const std::vector<TimeVerdict> verdicts = judge_times(
      {sample_of(comparison.pairs, &TimedPair::before_cpu_ns, &TimedPair::after_cpu_ns, comparison.times[0]),
       sample_of(comparison.pairs, &TimedPair::before_wall_ns, &TimedPair::after_wall_ns, comparison.times[1])});
  for (std::size_t i = 0; i < kTimes; ++i) {
    ComparedTime& time = comparison.times[i];
    time.verdict = verdicts[i].kind;
    time.ratio = ratio_of(verdicts[i]);
    time.p = verdicts[i].adjusted_p;
    time.line = fmt::format("{} {} → {} ({}): {}", time.name, format_ns(time.before_ns), format_ns(time.after_ns),
                            words_of(time.ratio), word(time.verdict));
  }
  if (verdicts[0].kind == TimeVerdict::Kind::kSlower) comparison.passed = false;
  comparison.sentence += "; " + comparison.times[0].line;
  return comparison;
}

/// Records the two commands alternately, until more runs show nothing new. Then times `pairs` pairs of runs in random
/// order. A signal ends the measurement early; if nothing can be compared yet, throws Stop. For a command that fails,
/// throws the same errors as measured().
ProgramComparison compare_commands(const record::runs::Target& before, const record::runs::Target& after,
                                   std::size_t pairs) {
  Recorded old_side{before};
  Recorded new_side{after};
  record_both(old_side, new_side);
  auto [timed, complete] = time_pairs(before, after, pairs);
  ProgramComparison comparison = compared(old_side.program, new_side.program, std::move(timed));
  comparison.state = completion(complete);
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
  for (const ComparedTime& time : comparison.times) text += wrap(time.line, "  ", "    ");
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
    outcome.verdict = word(time.verdict);
    outcome.headline = time.line;
    using enum TimeVerdict::Kind;
    outcome.kind = time.verdict == kSlower   ? exchange::OutcomeKind::kWorse
                   : time.verdict == kFaster ? exchange::OutcomeKind::kBetter
                   : time.verdict == kSame   ? exchange::OutcomeKind::kSame
                                             : exchange::OutcomeKind::kSkipped;
    outcome.fails = time.verdict == kSlower && &time == comparison.times.data();
    list.outcomes.push_back(outcome);
  }
  if (list.kind == exchange::OutcomeKind::kSame || list.kind == exchange::OutcomeKind::kChanged) {
    if (!comparison.passed) list.kind = exchange::OutcomeKind::kWorse;
  }
  return list;
}

}  // namespace

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
    throw UsageError(fmt::format("--rounds {} is out of range", pairs),
                     fmt::format("give {} to {}", fewest, kMostTimedPairs));
  }
  std::vector<NamedPath> inputs = program_input(old_words);
  for (const NamedPath& input : program_input(new_words)) inputs.push_back(input);
  check_outputs(options.exchange.outputs(), inputs);
  const ProgramComparison comparison = compare_commands(before, after, static_cast<std::size_t>(pairs));
  const Palette palette = palette_for(stdout);
  const bool explain = !options.explain.empty();
  options.exchange.publish(compare_outcomes(comparison), document_of(comparison),
                           explain || wants_full_text() ? compare_text(comparison, explain, palette)
                                                        : answer_text(compare_answer(comparison, palette)));
  if (comparison.state == Completion::kInterrupted) say_interrupted("times cover the pairs measured so far");
  return comparison.passed ? ExitStatus::kDone : ExitStatus::kFinding;
}

}  // namespace zerotax::compare
