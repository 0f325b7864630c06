#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/paired_times.h"
#include "programs/result.h"

namespace zerotax::programs {

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
struct Comparison {
  Program before;
  Program after;
  Check counts;
  std::vector<TimedPair> pairs;
  std::vector<ComparedTime> times;  ///< CPU time, wall time; empty without pairs
  bool complete = true;             ///< no signal came
  bool passed = true;               ///< nothing that is counted is worse, and NEW does not take more CPU time
  std::string sentence;
};

/// "CPU time 23.1 ms → 28.0 ms (1.21 times; 1.19 to 1.23): SLOWER", with the 95 % interval.
std::string words_of(const ComparedTime& time);

/// Pairs of runs that are enough to prove a difference of time.
std::size_t fewest_timed_pairs();

/// Judges what was measured of two commands.
Comparison compared(const Program& before, const Program& after, std::vector<TimedPair> pairs);

/// Records both, in turn, until neither shows anything new, and then times `pairs` pairs, in random order. A signal
/// ends it early; before anything can be compared, it throws Stop. Throws as measured() for a command that fails.
Comparison compare_commands(const Target& before, const Target& after, std::size_t pairs);

}  // namespace zerotax::programs
