#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "advise/search.h"

namespace zerotax::advise {

/// The values of one lever as candidates of a search, from less to more.
struct Axis {
  std::vector<std::size_t> candidates;
  std::optional<std::size_t> today;  ///< position of the unchanged program's value; that candidate needs no run
  std::vector<std::size_t> parts;    ///< axes that this axis moves together; all have the same positions
};

struct FrontierMethod : SearchMethod {
  std::optional<Goal> wanted;              ///< goal of the command line; without it, the first goal with a gain of CPU
                                           ///< time, memory at idle and peak memory
  std::optional<double> most_extra_bytes;  ///< memory that a recommended member may take beyond the unchanged program,
                                           ///< at the peak and at idle; without it, memory_ratio limits the peak
  double most_s = std::numeric_limits<double>::infinity();  ///< limit of the elapsed time of all runs, in seconds
};

/// A value of an axis that keeps kKept of the best gain of a metric, and is the nearest to the end without the gain.
struct SufficientValue {
  std::size_t axis;
  Goal goal;
  std::size_t candidate;
};

/// A value of a joint axis, and the same value of one of its parts alone.
struct PartAlone {
  std::size_t axis;
  std::size_t joint;
  std::size_t candidate;
};

struct FrontierResult {
  SearchResult search;               ///< the knee is the winner, and each member has a confirmation
  Goal steer = Goal::kCpu;           ///< the cost that chose values: page faults if they repeat, otherwise CPU time
  Goal goal = Goal::kCpu;            ///< the metric that the knee reduces
  std::vector<std::size_t> members;  ///< candidates of which none is worse in cost, idle and peak memory than another
                                     ///< candidate, in the order of cost
  std::vector<std::pair<Goal, std::size_t>> knees;  ///< knees for other goals, if they are other members
  std::vector<PartAlone> alone;
  std::vector<SufficientValue> sufficient;
  std::vector<std::size_t> left_out;  ///< candidates that the limit of time left out
};

/// Maximum number of members, without the unchanged program.
inline constexpr std::size_t kMostMembers = 6;
/// Share of the best gain that a sufficient value, and the knee, must keep.
inline constexpr double kKept = 0.95;

/// Called after the first unchanged runs, with the maximum number of runs of the search if most_s does not end it, and
/// with the elapsed time of an unchanged run in seconds.
using OnEstimate = std::function<void(std::size_t most_runs, double run_s)>;

/// Returns whether a candidate is within the limit of memory.
bool is_within(const SearchResult& result, const FrontierMethod& method, std::size_t candidate);

/// Searches for the values that nothing beats in cost, memory at idle and peak memory together (docs/advise.md). Tries
/// both ends of each axis and each candidate without an axis. Where an end gains, bisection finds the value nearest to
/// the other end that keeps kKept of the gain. Rounds of all members and the unchanged program give intervals.
FrontierResult search_frontier(
    const std::vector<Candidate>& candidates, const std::vector<Axis>& axes, const FrontierMethod& method,
    const RunOnce& run, const OnPart& on_part, const OnEstimate& on_estimate = [](std::size_t, double) {});

}  // namespace zerotax::advise
