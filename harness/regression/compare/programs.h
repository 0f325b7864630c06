#pragma once

#include <string>
#include <vector>

#include "base/paired_times.h"
#include "baseline/result.h"

namespace zerotax::compare {

/// Runs of both commands without the recorder, one right after the other.
struct TimedPair {
  double before_cpu_ns = 0;  ///< user and system time, with all descendants
  double after_cpu_ns = 0;
  double before_wall_ns = 0;
  double after_wall_ns = 0;
};

/// A kind of time in both commands.
struct ComparedTime {
  const char* name = "";  ///< "CPU time"
  double before_ns = 0;   ///< median
  double after_ns = 0;
  TimeVerdict verdict;
};

/// Two commands compared: what is counted, as `check` does it, and times, in pairs.
struct ProgramComparison {
  baseline::Program before;
  baseline::Program after;
  baseline::ProgramCheck counts;
  std::vector<TimedPair> pairs;
  std::vector<ComparedTime> times;  ///< CPU time, wall time; empty without pairs
  bool complete = true;             ///< no signal came
  bool passed = true;               ///< nothing that is counted is worse, and NEW does not take more CPU time
  std::string sentence;
};

/// "CPU time 23.1 ms → 28.0 ms (1.21 times; 1.19 to 1.23): SLOWER", with the 95 % interval.
std::string words_of(const ComparedTime& time);

/// The object "zerotax.program_compare/1" (results/schema/program_compare.schema.json).
Json compare_json(const ProgramComparison& comparison);

}  // namespace zerotax::compare
