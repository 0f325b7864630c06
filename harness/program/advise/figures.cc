#include "advise/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"

namespace zerotax::advise {

const char* goal_name(Goal goal) {
  constexpr const char* kNames[] = {"cpu", "wall", "faults", "memory"};
  return kNames[static_cast<std::size_t>(goal)];
}

std::vector<std::string> goal_names() {
  std::vector<std::string> names;
  for (const Goal goal : kGoals) names.emplace_back(goal_name(goal));
  return names;
}

Goal parse_goal(const std::string& word) {
  for (const Goal goal : kGoals) {
    if (word == goal_name(goal)) return goal;
  }
  refuse_word(fmt::format("invalid --goal '{}'", word), word, goal_names());
}

double figure_of(const Figures& figures, Goal goal) {
  constexpr double Figures::*kFields[] = {&Figures::cpu_s, &Figures::wall_s, &Figures::faults, &Figures::peak_bytes};
  const bool time = goal == Goal::kCpu || goal == Goal::kWall;
  return std::max(figures.*kFields[static_cast<std::size_t>(goal)], time ? 1e-6 : 1.0);
}

}  // namespace zerotax::advise
