#pragma once

#include <string>
#include <vector>

namespace zerotax::advise {

/// What is to become less.
enum class Goal { kCpu, kWall, kFaults, kMemory };
inline constexpr Goal kGoals[] = {Goal::kCpu, Goal::kWall, Goal::kFaults, Goal::kMemory};

/// "cpu", "wall", "faults", "memory": as --goal and the document have them.
const char* goal_name(Goal goal);
std::vector<std::string> goal_names();
/// Throws UsageError.
Goal parse_goal(const std::string& word);

/// What a run used, with all of its processes.
struct Figures {
  double cpu_s = 0;
  double wall_s = 0;
  double faults = 0;      ///< minor ones
  double peak_bytes = 0;  ///< resident: the largest sum of its processes at one time
};

/// One of them; never 0, so that it has a logarithm.
double figure_of(const Figures& figures, Goal goal);

/// How one run ended.
struct Trial {
  enum class End {
    kOk,
    kFailed,         ///< another exit status, a signal, a timeout
    kMoreMemory,     ///< it took more than a trial may, and was ended
    kChangedOutput,  ///< another output than in the present state
    kStopped,        ///< by us, because we are to stop
  };
  End end = End::kOk;
  std::string why;  ///< of kFailed and kMoreMemory
  Figures figures;
};

}  // namespace zerotax::advise
