#pragma once

#include <string>
#include <vector>

#include "advise/remedy.h"
#include "advise/search.h"
#include "base/json.h"

namespace zerotax::advise {

struct Advice;

struct RecordedCause {
  RESULT("cause", "A cause of zeroing, as in a recording's tax.");
  FIELD(record::Cause, cause, "Its name.");
  FIELD(record::Count, cpu_ns, "CPU time, in nanoseconds.");
  FIELD(Measured<double>, share_of_cpu, "Share of the program's CPU time, 0 to 1.", most(1));
};

struct RecordedZeroing {
  RESULT("recording", "What a recorded run says; it was not timed.");
  FIELD(std::string, allocator_file, "File of the allocator that the program ran under.", kMayBeEmpty);
  FIELD(Measured<double>, share_of_cpu, "Share of the program's CPU time, 0 to 1.", most(1));
  FIELD(std::vector<RecordedCause>, causes, "What zeroing cost, by cause.");
  FIELD(record::Count, kernel_zeroed_bytes, "Bytes of the pages that the kernel zeroed.");
  FIELD(record::Count, zeroed_bytes, "Bytes that the allocator zeroed.");
  FIELD(record::Count, by_hand_zeroed_bytes, "Bytes that the program itself zeroed right after malloc.");
  FIELD(record::Count, refilled_bytes, "Kernel-zeroed bytes beyond what the process had held before.");
  FIELD(record::Count, kept_bytes,
        "The most that the kernel zeroed for one process and that the process did not return before its end. Absent "
        "from earlier files.",
        kLater);
  FIELD(std::string, by_hand_at, "Where the program itself zeroes most; empty if it does not.", kMayBeEmpty);
};

struct Program {
  RESULT("program");
  FIELD(std::vector<std::string>, words, "The command and its arguments.", least_items(1), kMayBeEmpty);
  FIELD(std::string, input, "Its standard input.", kMayBeEmpty);
  FIELD(std::string, ready, "The command that succeeds once a server can be used; empty for another program.",
        kMayBeEmpty);
  FIELD(std::string, load, "The work of a server; empty for another program.", kMayBeEmpty);
};

struct Alternative {
  RESULT("other", "A remedy beside the recommended one.");
  FIELD(std::string, remedy, "Its name.", kMayBeEmpty);
  FIELD(std::string, line, "What is put before the command.", kMayBeEmpty);
  FIELD(std::string, sentence, "What it would do.", kMayBeEmpty);
};

enum class AdviceKind { kRemedy, kNothingToGain, kNothingHelps, kUnknown };
ENUM_WORDS(AdviceKind, "remedy", "nothing_to_gain", "nothing_helps", "unknown")

struct Recommendation {
  RESULT("recommendation");
  FIELD(AdviceKind, kind,
        "remedy: one is recommended. nothing_to_gain: zeroing costs too little, so that nothing was tried. "
        "nothing_helps: nothing that was tried is proven to help. unknown: it was interrupted.");
  FIELD(std::string, sentence, "The advice.");
  FIELD(std::optional<std::string>, why,
        "Why this remedy is recommended though others took less. Absent if no other took less.");
  FIELD(OrNull<std::string>, remedy, "Name of the remedy.", kMayBeEmpty);
  FIELD(OrNull<std::string>, line, "The command with it, ready to paste.", kMayBeEmpty);
  FIELD(std::string, gains, "What it gains, with 95 % intervals.", kMayBeEmpty);
  FIELD(std::string, costs, "What it costs, and may cost.", kMayBeEmpty);
  FIELD(std::string, recorded, "What the recordings before and after say.", kMayBeEmpty);
  FIELD(OrNull<Alternative>, faster_still, "A better remedy that takes too much memory (goal memory: CPU time).");
  FIELD(OrNull<Alternative>, without_preload,
        "The best of the program's own allocator, where another one is recommended.");
};

struct Method : SearchMethod {
  RESULT("method");
  MEMBER(goal, "What was to become less.");
  MEMBER(alpha, "Chance that a remedy without effect is recommended.", above(0), most(1));
  MEMBER(band, "Relative gain that a recommended remedy exceeds.");
  MEMBER(memory_ratio, "Peak memory that it may take, in times the present state's.", least(1));
  MEMBER(most_pairs, "Most pairs of runs of a confirmation.", least(1));
  FIELD(double, timeout_s, "Time limit of one run, in seconds.", above(0));
  FIELD(bool, output_compared, "Whether standard output had to be the same in each run.");
  MEMBER(seed, "Of the order of runs.");
  FIELD(double, noise,
        "Standard deviation of the logarithm of the goal's figure, from run to run of the present state.");
};

struct Present {
  RESULT("present");
  FIELD(Measured<std::string>, allocator, "Name of its allocator.", kMayBeEmpty);
  FIELD(Measured<std::string>, version, "Its version.", kMayBeEmpty);
  FIELD(Measured<Figures>, figures, "Medians of its runs.");
};

struct Ratio {
  RESULT("ratio", "A figure under a remedy divided by that in the present state.");
  FIELD(double, median, "Hodges and Lehmann's estimate of the confirmation, or the median of the screening's runs.");
  FIELD(std::optional<double>, low, "Low end of the 95 % interval; of confirmed remedies.");
  FIELD(std::optional<double>, high, "High end of it.");
};

struct Ratios {
  RESULT("ratios");
  FIELD(Measured<Ratio>, cpu, "Of CPU time.");
  FIELD(Measured<Ratio>, wall, "Of wall time.");
  FIELD(Measured<Ratio>, faults, "Of page faults.");
  FIELD(Measured<Ratio>, memory, "Of peak memory.");
};
/// In the order of kGoals.
inline constexpr Measured<Ratio> Ratios::*kRatios[] = {&Ratios::cpu, &Ratios::wall, &Ratios::faults, &Ratios::memory};

struct TriedRemedy : Remedy {
  RESULT("remedy", "A remedy that was tried.");
  MEMBER(name, "Its name.");
  MEMBER(allocator, "The allocator whose settings they are, or which is preloaded.", kMayBeEmpty);
  MEMBER(version, "Version of the allocator that is preloaded.", kMayBeEmpty);
  MEMBER(preload, "Path of the library that is preloaded; null if the program keeps its own allocator.", kMayBeEmpty);
  MEMBER(env, "The variables that are set.", kMayBeEmpty);
  FIELD(std::string, line, "What is put before the command, quoted for a shell.", kMayBeEmpty);
  MEMBER(words, "What it does.", kMayBeEmpty);
  MEMBER(costs, "What it may cost in general.", kMayBeEmpty);
  FIELD(std::string, verdict,
        "The result: LESS and MORE where the goal is no time. It is from a few runs if it is not confirmed.",
        one_of("FASTER|SLOWER|LESS|MORE|SAME|AMBIGUOUS|BREAKS|MORE MEMORY|CHANGED OUTPUT"));
  FIELD(std::string, reason,
        "Why it breaks the program (with the first line that the program printed), or how much memory was too much; "
        "empty if neither.",
        kMayBeEmpty);
  FIELD(bool, heavy, "Whether it takes more memory (goal memory: more CPU time) than a recommended remedy may.");
  FIELD(bool, confirmed, "Whether ratios and verdict are of fresh pairs of runs.");
  FIELD(std::size_t, runs, "Runs under it.");
  FIELD(Ratios, ratios, "Ratios to the present state.");
};

struct NotTried {
  RESULT("not tried", "A remedy that was not tried.");
  FIELD(std::string, name, "Its name.", kMayBeEmpty);
  FIELD(std::string, why, "Why not.");
};

struct Pair {
  RESULT("pair", "Two runs, one right after the other.");
  FIELD(Figures, present, "In the present state.");
  FIELD(Figures, remedy, "Under the remedy.");
};

struct ConfirmedRemedy {
  RESULT("confirmation", "Fresh pairs of runs of a remedy and the present state; who is first is decided by a coin.");
  FIELD(std::string, remedy, "Its name.", kMayBeEmpty);
  FIELD(unsigned, planned_pairs, "Pairs that the screening's noise asked for.", least(1));
  FIELD(std::vector<Pair>, pairs, "Those that were run.");
  FIELD(double, alpha, "Chance that it is confirmed without having any effect.", above(0), most(1));
  FIELD(bool, confirmed, "Whether the gain is proven, and larger than the band.");
  FIELD(std::string, why_not, "Why it is not; empty if it is.", kMayBeEmpty);
  FIELD(Measured<double>, p, "Of Wilcoxon's signed-rank test of the goal, two-sided, exact.", most(1));
};

struct RunOfRemedy {
  RESULT("run", "One run, in the order of running.");
  FIELD(OrNull<std::string>, remedy, "Name of the remedy; null: the present state.", kMayBeEmpty);
  FIELD(Phase, phase, "What it was for.");
  FIELD(unsigned, round, "Round of the screening, from 1 on, or number of the confirmation; 0: the first runs.");
  FIELD(Trial::End, end, "How it ended.", one_of("ok|failed|more_memory|changed_output"));
  FIELD(Figures, figures, "What it used.");
};

struct AdviceResult : DocumentHead {
  RESULT("zerotax advise",
         "What zerotax advise --json writes: the remedies that were tried on a program, and the one that is "
         "recommended. A metric that could not be measured is {\"na\": \"why\"}, never 0.");
  SCHEMA_FIELD("zerotax.advise/1");
  VERSION_FIELD();
  STARTED_FIELD();
  FIELD(bool, complete, "false if it was interrupted.");
  MEMBER(command, "The command line, verbatim.", least_items(1), kMayBeEmpty);
  ENVIRONMENT_FIELD();
  FIELD(Program, program, "What was run.");
  FIELD(Recommendation, recommendation, "What to do. Tables, Markdown and page show these sentences, and no others.");
  FIELD(Method, method, "How remedies were compared.");
  FIELD(Present, present, "The program as it is.");
  FIELD(Measured<RecordedZeroing>, recording, "In the present state.");
  FIELD(OrNull<Measured<RecordedZeroing>>, recording_after, "Under the recommended remedy; null if there is none.");
  FIELD(OrNull<double>, startup_ms,
        "Milliseconds that the recommended preloading adds to the start of a program that does nothing.", kAnySign);
  FIELD(std::vector<TriedRemedy>, remedies, "What was tried.");
  FIELD(std::vector<NotTried>, not_tried, "What was not.");
  FIELD(std::vector<ConfirmedRemedy>, confirmations, "Of the one or two best.");
  FIELD(std::vector<RunOfRemedy>, runs, "Every run that was measured.");
};

struct SelfTest : DocumentHead {
  RESULT("benchmark-advise-alarms",
         "What benchmark-advise-alarms --json writes: searches in which every remedy is the program's present state.");
  SCHEMA_FIELD("zerotax.advise_self_test/1");
  VERSION_FIELD();
  STARTED_FIELD();
  MEMBER(command, "The command line, verbatim.", least_items(1), kMayBeEmpty);
  ENVIRONMENT_FIELD();
  FIELD(Goal, goal, "What was to become less.");
  FIELD(std::size_t, advices, "Advices that were finished.");
  FIELD(std::size_t, recommended, "Those that recommended something: false alarms.");
  FIELD(std::vector<Figures>, runs, "Every run, in the order of running; all of them in the present state.");
};

AdviceResult advice_result(const Advice& advice);

/// The object "zerotax.advise/1".
Json advise_json(const AdviceResult& advice);
AdviceResult read_advise(const Json& json);

/// At most 80 columns, but for the line to paste.
std::string advise_text(const AdviceResult& advice);
/// Headings, paragraphs and a table that GitHub shows.
std::string advise_markdown(const AdviceResult& advice);

/// What to do next: the line to paste that runs the program with the remedy. Empty if nothing helps.
std::string next_step(const AdviceResult& advice);

}  // namespace zerotax::advise
