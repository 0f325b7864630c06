#include "advise/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"

namespace zerotax::advise {

std::vector<std::string> goal_names() { return all_words<Goal>(); }

Goal parse_goal(const std::string& text) {
  for (const Goal goal : kGoals) {
    if (text == word(goal)) return goal;
  }
  refuse_word(fmt::format("invalid --goal '{}'", text), text, goal_names());
}

double figure_of(const Figures& figures, Goal goal) {
  constexpr double Figures::*kFields[] = {&Figures::cpu_s, &Figures::wall_s, &Figures::faults, &Figures::peak_bytes};
  const bool time = goal == Goal::kCpu || goal == Goal::kWall;
  return std::max(figures.*kFields[static_cast<std::size_t>(goal)], time ? 1e-6 : 1.0);
}

}  // namespace zerotax::advise
