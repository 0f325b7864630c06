#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "advise/frontier.h"

namespace zerotax::advise {

/// Compares the candidates of a frontier by the runs so far, and chooses the members and the knee.
class FrontierChoice {
 public:
  FrontierChoice(const std::vector<Candidate>& candidates, const FrontierMethod& method, FrontierResult& found)
      : candidates_(candidates), method_(method), found_(found) {}

  [[nodiscard]] bool worked(std::size_t candidate) const;
  /// Returns a candidate's metric as a multiple of the unchanged program's; nothing if there is no run with the metric.
  [[nodiscard]] std::optional<double> ratio(std::size_t candidate, Goal goal) const;
  [[nodiscard]] bool is_gain(double gain, Goal goal) const;
  /// Returns how much less than kKept of the best gain a sufficient value may gain, as a share of the unchanged metric.
  [[nodiscard]] double slack(Goal goal) const;
  /// Whether a member is proven to take less of a metric than the unchanged program.
  [[nodiscard]] bool is_proven_less(std::size_t member) const;
  /// Whether a candidate takes no more memory than --max-memory permits.
  [[nodiscard]] bool keeps_limit(std::size_t candidate) const;
  /// Chooses at most `most` members from all candidates that ran.
  void choose_members(std::size_t most);
  /// Chooses the knees, and completes the standings.
  void finish();
  /// Leaves out a value between a better end and its sufficient value. Such a value gains hardly more.
  void leave_out(std::size_t candidate) { exceeding_.push_back(candidate); }

 private:
  [[nodiscard]] double present_figure(Goal goal) const;
  [[nodiscard]] const Confirmation* pairs_of(std::size_t candidate) const;
  /// Preference among candidates that are equally good: no other allocator, few settings, and a sufficient value.
  [[nodiscard]] std::tuple<bool, std::size_t, bool, std::size_t> complexity(std::size_t candidate) const;
  [[nodiscard]] bool is_sufficient(std::size_t candidate) const;
  /// Whether a value exceeds a sufficient value of its axis. Such a value is no member, because it gains hardly more.
  [[nodiscard]] bool exceeds(std::size_t candidate) const;
  /// Returns the differences that do not count, as a share of the unchanged metric.
  [[nodiscard]] double tolerance(Goal goal) const;
  /// Whether `one` is nowhere worse than `other`, and better or simpler.
  [[nodiscard]] bool beats(std::size_t one, std::size_t other) const;
  [[nodiscard]] bool is_less(std::size_t member, Goal goal) const;
  /// Returns the knee for a goal: of the members that keep kKept of the best gain, the member that takes least memory
  /// (for a goal of memory: least CPU time). A goal of memory may multiply the CPU time by other_ratio, or by any
  /// ratio.
  [[nodiscard]] std::optional<std::size_t> knee(Goal goal, bool at_any_price) const;

  const std::vector<Candidate>& candidates_;
  const FrontierMethod& method_;
  FrontierResult& found_;
  std::vector<std::size_t> exceeding_;
};

}  // namespace zerotax::advise
