#pragma once

#include <vector>

#include "advise/search.h"

namespace zerotax::advise {

/// Rounds of a few runs each, in which most candidates drop out. About every fourth run is of the unchanged program.
class Screening {
 public:
  Screening(const std::vector<Candidate>& candidates, const SearchMethod& method, const RunOnce& run,
            const OnPart& on_part, SearchResult& result);

  /// Runs all rounds. Returns false if a signal stopped a run.
  bool run();

  /// Returns at most three remaining candidates, in the order in which to confirm them. Returns no candidate if none
  /// gains enough.
  [[nodiscard]] std::vector<std::size_t> finalists() const;

 private:
  bool once(Phase phase, unsigned round, std::size_t candidate);
  bool cycle(std::vector<std::size_t>& contestants, bool starts_with_present);
  bool round(std::vector<std::size_t> contestants, unsigned cycles);
  bool first_round(const std::vector<std::size_t>& contestants);
  void rate();
  void leave_out_cold_run(std::size_t candidate);
  [[nodiscard]] bool is_heavy(std::size_t candidate) const;
  [[nodiscard]] std::vector<std::size_t> standing() const;
  [[nodiscard]] bool is_far_behind(std::size_t candidate, std::size_t best) const;
  [[nodiscard]] std::vector<std::size_t> dropping_out() const;
  [[nodiscard]] std::vector<std::size_t> ranked() const;
  [[nodiscard]] std::vector<std::size_t> better_half() const;
  [[nodiscard]] std::vector<std::size_t> joining();
  [[nodiscard]] bool may_join(const Candidate& candidate, std::string& why) const;
  [[nodiscard]] double tolerance(std::size_t candidate) const;

  const std::vector<Candidate>& candidates_;
  const SearchMethod& method_;
  const RunOnce& run_;
  const OnPart& on_part_;
  SearchResult& result_;
  Random random_;
  unsigned round_ = 0;
};

}  // namespace zerotax::advise
