#pragma once

#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax::advise {

/// What is to become less.
enum class Goal { kCpu, kWall, kFaults, kMemory };
ENUM_WORDS(Goal, "cpu", "wall", "faults", "memory")
inline constexpr Goal kGoals[] = {Goal::kCpu, Goal::kWall, Goal::kFaults, Goal::kMemory};

/// As --goal and the document have them.
std::vector<std::string> goal_names();
/// Throws UsageError.
Goal parse_goal(const std::string& text);

struct Figures {
  RESULT("figures", "What a run used, with all of its processes.");
  FIELD(double, cpu_s, "CPU time, user and kernel, in seconds; of a server: its own.");
  FIELD(double, wall_s, "Wall time, in seconds; of a server: of the load.");
  FIELD(double, faults, "Minor page faults.");
  FIELD(
      double, peak_bytes,
      "Peak resident memory, in bytes: the largest sum over all processes at one time, of PSS where PSS can be read.");
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
ENUM_WORDS(Trial::End, "ok", "failed", "more_memory", "changed_output", "stopped")

}  // namespace zerotax::advise
