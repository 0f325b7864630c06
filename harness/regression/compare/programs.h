#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "base/paired_times.h"
#include "base/table.h"
#include "baseline/result.h"

namespace zerotax::compare {

struct TimedPair {
  RESULT("pair of runs", "Runs of both commands without the recorder, one right after the other.");
  FIELD(double, before_cpu_ns, "User and system time of OLD and its descendants, in nanoseconds.");
  FIELD(double, after_cpu_ns, "User and system time of NEW and its descendants, in nanoseconds.");
  FIELD(double, before_wall_ns, "Wall time of OLD, in nanoseconds.");
  FIELD(double, after_wall_ns, "Wall time of NEW, in nanoseconds.");
};

struct ComparedTime {
  RESULT("compared time", "CPU time or wall time of both commands.");
  FIELD(std::string, name, "Kind of time: CPU or wall.", one_of("CPU time|wall time"));
  FIELD(double, before_ns, "Median time of OLD, in nanoseconds.");
  FIELD(double, after_ns, "Median time of NEW, in nanoseconds.");
  FIELD(TimeVerdict::Kind, verdict, "The verdict, by the rules of zerotax compare.", kTimeWords);
  FIELD(TimeRatio, ratio, "The ratio of NEW to OLD.");
  FIELD(double, p, "P-value of Wilcoxon's signed-rank test, corrected for the two kinds of time.");
  FIELD(std::string, line, "The comparison in words: 'CPU time 23.1 ms → 28.0 ms (1.21 times; 1.19 to 1.23): SLOWER'.");
};

struct ProgramComparison {
  RESULT("zerotax comparison of two commands",
         "Counts of two commands, compared as by `zerotax check`, and the time of each, in pairs "
         "of runs. Written by `zerotax compare --json FILE -- COMMAND --- COMMAND`.");
  static constexpr const char* kDocument = "zerotax.program_compare/1";
  FIELD(Completion, state, "interrupted: a signal arrived before all pairs were timed.");
  MEMBER_AS("verdict", counts.verdict, "The verdict on counts, in the words of zerotax check.",
            baseline::kProgramVerdicts);
  MEMBER_AS("advice", counts.advice,
            "A change of the program that would undo the increase. Absent if the counts suggest none.", kAbsentIfEmpty);
  MEMBER_AS("changes", counts.changes, "Metrics whose ranges do not overlap: worse, then better, then neither.");
  MEMBER_AS("sites", counts.sites, "Call sites whose counts differ from the baseline, in descending order of bytes.");
  MEMBER_AS("not_compared", counts.not_compared, "Metrics that were not compared, each with the reason.");
  FIELD(std::string, sentence, "The verdict on counts and CPU time in one sentence.");
  MEMBER(passed,
         "Whether the exit status is 0: no count is worse, and NEW does not take more CPU time. Otherwise it is 1.");
  FIELD(baseline::Program, before, "Metrics of OLD in its recorded runs.");
  FIELD(baseline::Program, after, "Metrics of NEW in its recorded runs.");
  FIELD(std::vector<ComparedTime>, times, "CPU time, then wall time; empty if no pair was timed.");
  FIELD(std::vector<TimedPair>, pairs, "The pairs of runs, in the order in which they ran.");
  baseline::ProgramCheck counts;
  bool passed = true;
};

/// Returns the answer on one screen: the counts that differ, and the call site that differs most.
Answer compare_answer(const ProgramComparison& comparison, const Palette& palette);

}  // namespace zerotax::compare
