#pragma once

#include <string>
#include <vector>

#include "advise/remedy.h"
#include "advise/search.h"
#include "base/answer.h"
#include "base/json.h"
#include "base/plots.h"

namespace zerotax::advise {

struct Advice;

struct RecordedCause {
  RESULT("cause", "A cause of zeroing, as in `tax` of a recording.");
  FIELD(record::Cause, cause, "Name of the cause.");
  FIELD(record::Count, cpu_ns, "CPU time that the cause took, in nanoseconds.");
  FIELD(Measured<double>, share_of_cpu, "Share of the program's CPU time, from 0 to 1.", most(1));
};

struct RecordedZeroing {
  RESULT("recording", "Results of a run under the recorder. The times of this run are not compared.");
  FIELD(std::string, allocator_file, "File of the allocator that the program ran under.", kMayBeEmpty);
  FIELD(Measured<double>, share_of_cpu, "Share of the program's CPU time, from 0 to 1.", most(1));
  FIELD(std::vector<RecordedCause>, causes, "Cost of zeroing, by cause.");
  FIELD(record::Count, kernel_zeroed_bytes, "Bytes of the pages that the kernel zeroed.");
  FIELD(record::Count, zeroed_bytes, "Bytes that the allocator zeroed.");
  FIELD(record::Count, by_hand_zeroed_bytes, "Bytes that the program itself zeroed right after malloc.");
  FIELD(record::Count, refilled_bytes, "Kernel-zeroed bytes beyond what the process had held at its peak.");
  FIELD(record::Count, kept_bytes,
        "Bytes that the kernel zeroed for a process and that the process kept until its end: the maximum over all "
        "processes. Absent from earlier files.",
        kLater);
  FIELD(std::string, by_hand_at,
        "Place where the program itself zeroes most; empty if the program itself zeroes nothing.", kMayBeEmpty);
  std::string site;  ///< sentence about the call site of the most expensive cause; not in the document
};

struct Program {
  RESULT("program");
  FIELD(std::vector<std::string>, words, "The command and its arguments.", least_items(1), kMayBeEmpty);
  FIELD(std::string, input, "Path of the file that the program reads as standard input.", kMayBeEmpty);
  FIELD(std::string, ready,
        "The command that succeeds once a server can be used; empty if the program is not a server.", kMayBeEmpty);
  FIELD(std::string, load, "The command that gives a server its work; empty if the program is not a server.",
        kMayBeEmpty);
  FIELD(std::optional<bool>, replay, "True if the program is a recording of zerotax record --calls. Otherwise absent.",
        with(R"({"const": true})"));
};

struct Alternative {
  RESULT("other", "An alternative to the recommended remedy.");
  FIELD(std::string, remedy, "Name of the alternative remedy.", kMayBeEmpty);
  FIELD(std::string, line, "Text to put before the command.", kMayBeEmpty);
  FIELD(std::string, sentence, "Effect of the remedy, in words.", kMayBeEmpty);
  FIELD(std::string, source, "Line to write in the program before its forks. Absent without such a line.",
        kAbsentIfEmpty);
};

enum class AdviceKind { kRemedy, kNothingToGain, kNothingHelps, kUnknown };
ENUM_WORDS(AdviceKind, "remedy", "nothing_to_gain", "nothing_helps", "unknown")

struct Recommendation {
  RESULT("recommendation");
  FIELD(
      AdviceKind, kind,
      "remedy: a remedy is recommended. nothing_to_gain: zeroing costs too little (for the goal shared: the processes "
      "copy too little), so no remedy was tried. "
      "nothing_helps: no tried remedy is proven to help. unknown: the search was interrupted.");
  FIELD(std::string, sentence, "Text of the recommendation.");
  FIELD(std::optional<std::string>, why,
        "Reason to recommend this remedy although other remedies took less of the goal's metric. Absent if no other "
        "remedy took less.");
  FIELD(OrNull<std::string>, remedy, "Name of the remedy.", kMayBeEmpty);
  FIELD(OrNull<std::string>, line,
        "The command with the remedy, ready to paste; null if the remedy has no settings, only `source`.", kMayBeEmpty);
  FIELD(std::string, source, "Line to write in the program before its forks. Absent without such a line.",
        kAbsentIfEmpty);
  FIELD(std::string, gains, "Gains of the remedy, with 95 % intervals.", kMayBeEmpty);
  FIELD(std::string, costs, "Measured and possible costs of the remedy.", kMayBeEmpty);
  FIELD(std::string, recorded, "Changes from the recording without the remedy to the recording with it.", kMayBeEmpty);
  FIELD(OrNull<Alternative>, faster_still,
        "A better remedy that was not recommended because it takes too much memory (for the goals memory and idle: too"
        " much CPU time).");
  FIELD(
      std::optional<Alternative>, less_at_idle,
      "For the goal memory: a remedy that takes less memory at idle than the recommendation. Absent if no remedy takes "
      "a tenth less.");
  FIELD(OrNull<Alternative>, without_preload,
        "The best remedy that keeps the program's own allocator, if another allocator is recommended.");
  std::string for_program;  ///< advice on how the program itself can avoid the zeroing; not in the document
};

struct Method : SearchMethod {
  RESULT("method");
  MEMBER(goal, "Metric to reduce.");
  MEMBER(alpha, "Probability of recommending a remedy without effect.", above(0), most(1));
  MEMBER(band, "Relative gain that a recommended remedy must exceed.");
  MEMBER(memory_ratio, "Limit of a remedy's peak memory, as a multiple of the unchanged program's.", least(1));
  MEMBER(most_pairs, "Maximum number of pairs of runs in a confirmation.", least(1));
  FIELD(double, timeout_s, "Time limit of one run, in seconds.", above(0));
  FIELD(bool, output_compared, "Whether the runs had to print the same text to standard output.");
  MEMBER(seed, "Seed of the order of runs.");
  FIELD(double, noise,
        "Standard deviation of the logarithm of the goal's metric between runs of the unchanged program.");
};

struct Present {
  RESULT("present");
  FIELD(Measured<std::string>, allocator, "Name of the program's own allocator.", kMayBeEmpty);
  FIELD(Measured<std::string>, version, "Version of the allocator.", kMayBeEmpty);
  FIELD(Measured<Figures>, figures, "Medians of the metrics over the runs of the unchanged program.");
};

struct Ratio {
  RESULT("ratio", "A metric's value under a remedy, divided by its value for the unchanged program.");
  FIELD(double, median, "Hodges-Lehmann estimate of the confirmation, or median of the screening's runs.");
  FIELD(std::optional<double>, low, "Lower end of the ratio's 95 % interval; only for confirmed remedies.");
  FIELD(std::optional<double>, high, "Upper end of the ratio's 95 % interval; only for confirmed remedies.");
};

struct Ratios {
  RESULT("ratios");
  FIELD(Measured<Ratio>, cpu, "Ratio of CPU time.");
  FIELD(Measured<Ratio>, wall, "Ratio of wall time.");
  FIELD(Measured<Ratio>, faults, "Ratio of page faults.");
  FIELD(Measured<Ratio>, memory, "Ratio of peak memory.");
  FIELD(Measured<Ratio>, idle, "Ratio of memory at idle (idle_bytes). Absent from earlier files.", kLater);
  FIELD(Measured<Ratio>, shared, "Ratio of copied bytes (copied_bytes). Absent unless the goal is shared.",
        kAbsentIfEmpty);
};
/// Members in the order of kGoals.
inline constexpr Measured<Ratio> Ratios::*kRatios[] = {&Ratios::cpu,    &Ratios::wall, &Ratios::faults,
                                                       &Ratios::memory, &Ratios::idle, &Ratios::shared};
/// Returns the ratio of a goal's metric.
auto& ratio_for(auto& ratios, Goal goal) { return ratios.*kRatios[static_cast<std::size_t>(goal)]; }

struct TriedRemedy : Remedy {
  RESULT("remedy", "A remedy that was tried.");
  MEMBER(name, "Name of the remedy.");
  MEMBER(allocator, "The allocator to which the settings belong, or the preloaded allocator.", kMayBeEmpty);
  MEMBER(version, "Version of the preloaded allocator.", kMayBeEmpty);
  MEMBER(preload, "Path of the preloaded library; null if the program keeps its own allocator.", kMayBeEmpty);
  MEMBER(env, "The variables that the remedy sets.", kMayBeEmpty);
  FIELD(std::string, line, "Text to put before the command, quoted for a shell.", kMayBeEmpty);
  MEMBER(source, "Line to write in the program before its forks. Absent without such a line.", kAbsentIfEmpty);
  MEMBER(words, "Effect of the remedy, in words.", kMayBeEmpty);
  MEMBER(costs, "Possible costs of the remedy in general.", kMayBeEmpty);
  FIELD(std::string, verdict,
        "The verdict. LESS and MORE replace FASTER and SLOWER if the goal is not a time. Without a confirmation, "
        "the verdict is from a few runs.",
        one_of("FASTER|SLOWER|LESS|MORE|SAME|AMBIGUOUS|BREAKS|MORE MEMORY|CHANGED OUTPUT"));
  FIELD(std::string, reason,
        "The failure of the program under the remedy (with the first line that the program printed), or the amount of "
        "memory that was too much; empty in all other cases.",
        kMayBeEmpty);
  FIELD(bool, heavy,
        "Whether the remedy takes more memory (for the goals memory and idle: more CPU time) than a recommended remedy "
        "may "
        "take.");
  FIELD(bool, confirmed, "Whether ratios and verdict are from the pairs of runs of a confirmation.");
  FIELD(std::size_t, runs, "Number of runs under the remedy.");
  FIELD(Ratios, ratios, "Ratios to the unchanged program.");
};

struct NotTried {
  RESULT("not tried", "A remedy that was not tried.");
  FIELD(std::string, name, "Name of the remedy.", kMayBeEmpty);
  FIELD(std::string, why, "Reason why the remedy was not tried.");
};

struct Pair {
  RESULT("pair", "Two runs in immediate succession.");
  FIELD(Figures, present, "Metrics of the run of the unchanged program.");
  FIELD(Figures, remedy, "Metrics of the run under the remedy.");
};

struct ConfirmedRemedy {
  RESULT("confirmation",
         "Pairs of runs, made after the screening: one run with the remedy and one without, in random order.");
  FIELD(std::string, remedy, "Name of the remedy.", kMayBeEmpty);
  FIELD(unsigned, planned_pairs, "Number of pairs that a proof needs, given the noise of the screening.", least(1));
  FIELD(std::vector<Pair>, pairs, "The pairs of runs.");
  FIELD(double, alpha, "Probability of confirming a remedy without effect.", above(0), most(1));
  FIELD(bool, confirmed, "Whether the gain is proven and larger than the band.");
  FIELD(std::string, why_not, "Reason why the remedy is not confirmed; empty if it is confirmed.", kMayBeEmpty);
  FIELD(Measured<double>, p, "p-value of Wilcoxon's signed-rank test of the goal's metric, two-sided, exact.", most(1));
};

struct RunOfRemedy {
  RESULT("run", "One run; runs are in the order of time.");
  FIELD(OrNull<std::string>, remedy, "Name of the remedy; null for the unchanged program.", kMayBeEmpty);
  FIELD(Phase, phase, "Phase of the search that needed the run.");
  FIELD(unsigned, round,
        "Round of the screening, or number of the confirmation, both counted from 1; 0 for the first runs.");
  FIELD(Trial::End, end, "Outcome of the run.", one_of("ok|failed|more_memory|changed_output"));
  FIELD(Figures, figures, "Metrics of the run.");
};

struct LoadResult {
  RESULT("load", "Results of the search under one load.");
  FIELD(std::string, load, "The command that gave the server its work.");
  FIELD(Recommendation, recommendation, "The recommended remedy for this load alone.");
  FIELD(Present, present, "Allocator and metrics of the unchanged program under this load.");
  FIELD(std::vector<TriedRemedy>, remedies, "Remedies that were tried under this load.");
};

struct LoadsResult {
  RESULT("loads", "Results under several loads.");
  FIELD(OrNull<std::string>, remedy,
        "Name of the remedy that is confirmed to help under at least one load, and that showed no harm under any load; "
        "null if there is none.",
        kMayBeEmpty);
  FIELD(OrNull<std::string>, line, "Text to put before the command.", kMayBeEmpty);
  FIELD(std::string, sentence, "The verdict in words.");
  FIELD(std::vector<LoadResult>, each, "Results under each load, in the order of the command line.", least_items(1));
};

struct FrontierMember {
  RESULT("member", "The unchanged program, or a setting that nothing beats.");
  FIELD(OrNull<std::string>, remedy, "Name of the remedy; null for the unchanged program.", kMayBeEmpty);
  FIELD(std::string, line, "Text to put before the command, quoted for a shell.", kMayBeEmpty);
  FIELD_AS("knee", bool, is_knee, "Whether the setting is recommended.");
  FIELD(std::vector<Goal>, best_for, "Other goals for which the setting would be recommended.");
  FIELD(Figures, figures, "Medians of the metrics over the rounds.");
  FIELD(std::optional<Ratios>, ratios,
        "Ratios to the unchanged program of the same round, with 95 % intervals. Absent for the unchanged program.");
  FIELD(std::string, buys, "Metrics that the setting is proven to reduce.", kMayBeEmpty);
  FIELD(std::string, pays, "Metrics that the setting is proven to increase.", kMayBeEmpty);
};

struct PartAloneFound {
  RESULT("part", "One variable alone of a setting of several variables.");
  FIELD(bool, harms, "Whether the variable alone increases the cost.");
  FIELD(std::string, sentence, "Effect of the variable alone, in words.");
};

struct LeverTried {
  RESULT("lever", "A setting of which several values were tried.");
  FIELD(std::string, name, "Name of the lever.");
  FIELD(std::string, more, "The gain and the price of more.");
  FIELD(std::vector<std::string>, remedies, "Names of the remedies with a value that was tried, from less to more.");
  FIELD(std::vector<std::string>, sufficient, "Sentences about the smallest sufficient values.");
  FIELD(std::vector<PartAloneFound>, alone, "For a lever of several variables: each variable alone.");
};

struct FrontierFound {
  RESULT("frontier");
  FIELD(Goal, steer, "The cost that chose the values: page faults if they repeat, and otherwise CPU time.",
        one_of("faults|cpu"));
  FIELD(OrNull<double>, most_extra_bytes,
        "Memory that a member may take beyond the unchanged program, at the peak and at idle; null without "
        "--max-memory.");
  FIELD(OrNull<Goal>, wanted, "The goal of the command line; null if the first goal with a proven gain was chosen.");
  FIELD(std::string, rule, "The rule that chose the recommended setting, in words.", kMayBeEmpty);
  FIELD(std::vector<FrontierMember>, members,
        "The Pareto set of cost, memory at idle and peak memory, in the order of cost, and the unchanged program.");
  FIELD(std::vector<LeverTried>, levers, "The levers of the program's allocator.");
  FIELD(std::vector<std::string>, left_out,
        "Names of the remedies that were left out because the search may take at most 330 times the program's time, or "
        "a minute. Absent from earlier files.",
        kLater);
};

struct AdviceResult : DocumentHead {
  RESULT("zerotax advise",
         "The remedies that were tried on a program, and the recommended remedy, as zerotax advise --json writes "
         "them. A metric that could not be measured is {\"na\": \"why\"}, never 0.");
  SCHEMA_FIELD("zerotax.advise/1");
  VERSION_FIELD();
  STARTED_FIELD();
  FIELD(bool, complete, "Whether the search ended normally; false if it was interrupted.");
  MEMBER(command, "The command line, verbatim.", least_items(1), kMayBeEmpty);
  ENVIRONMENT_FIELD();
  FIELD(Program, program, "The program and its input.");
  FIELD(Recommendation, recommendation,
        "The recommended remedy and its sentences, which tables, Markdown and the page show unchanged.");
  FIELD(Method, method, "Method of comparing remedies.");
  FIELD(Present, present, "Allocator and metrics of the unchanged program.");
  FIELD(Measured<RecordedZeroing>, recording, "Results of a run of the unchanged program under the recorder.");
  FIELD(OrNull<Measured<RecordedZeroing>>, recording_after,
        "Recording of a run with the recommended remedy; null if no remedy is recommended.");
  FIELD(OrNull<double>, startup_ms,
        "Milliseconds that the recommended preloaded library adds to the start of a program that does nothing.",
        kAnySign);
  FIELD(std::vector<TriedRemedy>, remedies, "Remedies that were tried.");
  FIELD(std::optional<FrontierFound>, frontier, "Results of --frontier. Absent without --frontier.");
  FIELD(std::vector<NotTried>, not_tried, "Remedies that were not tried.");
  FIELD(
      std::vector<std::string>, untried_changes,
      "For the goal shared: sentences about changes of the program that zerotax cannot try. Absent if there are none.",
      kAbsentIfEmpty);
  FIELD(std::vector<ConfirmedRemedy>, confirmations, "Confirmations of the one or two best remedies.");
  FIELD(std::vector<RunOfRemedy>, runs, "Every measured run.");
  FIELD(std::optional<LoadsResult>, loads,
        "Present if several loads were given. All other members are then results under the first load.");
};

AdviceResult advice_result(const Advice& advice);

/// Returns the object "zerotax.advise/1".
Json advise_json(const AdviceResult& advice);
AdviceResult read_advise(const Json& json);

/// Returns the answer, which fits one screen.
Answer advise_answer(const AdviceResult& advice);
/// Returns sentences about the gain of the best remedy, or a sentence that nothing helps.
std::string headline(const AdviceResult& advice);

/// Returns all results as text of 80 columns. The command to paste may be longer.
std::string advise_text(const AdviceResult& advice);
/// Returns Markdown for GitHub: headings, paragraphs and a table.
std::string advise_markdown(const AdviceResult& advice);

/// Returns the table of the frontier: one row per member, with medians.
Table frontier_table(const FrontierFound& frontier);
/// Returns all members with their gains and costs, and all levers, as text of 80 columns.
std::string frontier_text(const FrontierFound& frontier);
/// Returns a plot of the members: the cost over the memory at idle.
std::string frontier_plot(const AdviceResult& advice, const PlotStyle& style);

// Parts of the text and of the Markdown.

/// Returns the command to paste, with PROGRAM in place of a recording.
std::string command_text(const Program& program);
/// Returns a sentence that the runs are replays; empty if they are not.
std::string replay_sentence(const Program& program);

/// Returns the goal's name in text, such as "CPU time" or "peak memory".
const char* goal_words(Goal goal);
/// Returns the goal's name. For the goal idle, the name depends on Figures::idle_measure.
const char* goal_words(Goal goal, const Figures& figures);
/// Formats the value of a goal's metric, such as "851 ms" or "34.4 MiB".
std::string value_text(Goal goal, double value);
/// Returns a sentence about the copies of a run, by the first process and by its descendants.
std::string copies_text(const Copies& copies);
/// Returns the headline of the goal shared if no remedy is recommended.
std::string sharing_headline(const AdviceResult& advice);
/// Returns a sentence about the processes that copy; empty if little is copied.
std::string sharing_where(const AdviceResult& advice);
/// Returns a warning about copies that were not seen; empty if every copy was seen.
std::string sharing_limit(const AdviceResult& advice);
/// Formats the copied bytes that a remedy saves.
std::string saved_text(const AdviceResult& advice, const TriedRemedy& remedy);
/// Formats the median with three digits, or as "n/a".
std::string ratio_text(const Measured<Ratio>& ratio);
/// Whether memory at idle is known for any remedy.
bool has_idle(const AdviceResult& advice);
/// Whether the goal is memory that processes share.
bool is_about_sharing(const AdviceResult& advice);
/// Whether all runs succeeded, within the limit of memory and with the same output.
bool ended_well(const TriedRemedy& remedy);
/// Returns the remedy of this name, or nullptr.
const TriedRemedy* find_remedy(const std::vector<TriedRemedy>& remedies, const std::string& name);
/// Returns the remedies ordered by the goal's metric: the best comes first, failed remedies come last.
std::vector<TriedRemedy> sorted_remedies(const AdviceResult& advice);

}  // namespace zerotax::advise
