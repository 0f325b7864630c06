#pragma once

#include "programs/gather.h"
#include "programs/result.h"

namespace zerotax::programs {

/// The basis for judging a command with changes.
struct Judged {
  CommandRun first;
  std::uint64_t runs = 0;
  std::vector<Change> changes;
  std::vector<NotCompared> not_compared;
};

/// Runs the command once. While a metric lies outside its range on the same side each time, runs it up to two more
/// times, or four if the metric varied in the baseline.
Judged judge(const Program& baseline, const Runner& run);

/// Compares two programs. In each metric, the later program counts with its value nearest to the earlier range.
Judged compare(const Program& before, const Program& after);

/// The check of a command, with changes, places that differ, conditions, verdict and sentence. `same` is the sentence
/// of a command without changes, after the number of metrics: "as in the baseline".
Check check_of(const Program& baseline, Judged judged, const Json& measured_on, const std::string& same);

/// Several commands with the verdict of all.
Checks checks_of(std::vector<Check> checks);

/// Places of which anything differs between a baseline and a run beyond its range and 64 KiB or 16 calls: call stacks
/// are joined by what they are and their innermost function, so that a caller of another name hides none.
std::vector<SiteChange> site_changes(const Program& baseline, const CommandRun& run);

/// The verdict in one line: the metric that changed most, how, and the place that explains most of it; or, after the
/// number of metrics, `same`.
std::string sentence_of(const Check& check, const std::string& same);

/// How the program could change to undo the increase, by the table in judge/evidence.h; empty if the counts of the run
/// do not show it.
std::string advice_of(const Check& check);

/// One line of a change: "page faults 1,148 → 71,697", with the process, if it is of one.
std::string words_of(const Change& change);

/// "free in Decoder::reset (decoder.cc:118)".
std::string place_words(const SiteChange& site);

/// Of the numbers in bytes, the one that differs most: it stands for the others.
SiteNumber most_different(const SiteChange& site);

/// The conditions that differ from those of the baseline.
std::vector<ConditionDifference> differing_conditions(const Json& before, const Json& after);

}  // namespace zerotax::programs
