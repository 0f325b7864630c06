#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "contenders.h"

/// What is measured side by side: every contender, in the same rounds.
struct Cell {
  LoopWords words;
  std::map<std::string, std::vector<LoopFigures>> figures;  ///< by contender, a value a round; "limit" among them
  /// Of adaptive and of those that came out cheapest, measured once more, as many rounds each: what the verdict
  /// compares. The least of many figures that scatter is too low, so the rounds that choose a rival do not count
  /// against it.
  std::map<std::string, std::vector<LoopFigures>> again;
  std::map<std::string, std::int64_t> zeroed;  ///< bytes per operation; -1: not measured

  /// Least nanoseconds per operation of all rounds; 0 if a process of the contender failed. The least, because what the
  /// machine adds has two values rather than a middle, by what ran before on that processor (docs/method.md).
  [[nodiscard]] double ns(const std::string& contender) const;
  /// The same of the rounds of `again`; 0 for whom it does not have.
  [[nodiscard]] double again_ns(const std::string& contender) const;
  /// Median minor faults per operation.
  [[nodiscard]] double faults(const std::string& contender) const;
};

/// The two promises of the policy `adaptive`, for one cell.
struct Verdict {
  std::string best_allocator;  ///< the cheapest that is no policy of largecache
  std::string best_other;      ///< the cheapest of all but adaptive
  double to_best_allocator;    ///< adaptive's time as a multiple of it
  double to_best_other;
  bool ten_times_promised;  ///< at least 20 MiB, under 10 % touched
  /// Not more than 1.05 times the cheapest of all others, and at most a tenth of the cheapest other allocator where
  /// that is promised.
  bool near_kept;
  bool ten_times_kept;
};

/// Whom adaptive is measured against once more: the two cheapest of all others, and the cheapest allocator that is no
/// policy. Fewer where there are not as many.
std::vector<std::string> rivals_of(const Cell& cell, const std::vector<Contender>& contenders);

/// By the rounds of `again`.
Verdict judge(const Cell& cell, const std::vector<Contender>& contenders);

/// One table: a row a cell, a column a contender, in microseconds.
std::string cells_text(const std::string& heading, const std::vector<Cell>& cells,
                       const std::vector<Contender>& contenders);

/// What explains the times, for cells that were audited: minor faults and MiB that the allocator zeroed, per operation.
std::string causes_text(const std::string& heading, const std::vector<Cell>& cells,
                        const std::vector<Contender>& contenders);

/// {"sizes", "touch", "pattern", "threads", "limit_ns", "contenders": {name: {...}}, "verdict": {...}}
zerotax::Json cell_json(const Cell& cell, const std::vector<Contender>& contenders);

/// Adds what is said of the figures in a document of benchmark-policies, or replaces it: "policies", largecache's; of
/// each contender of a cell "to_best_allocator", its time as a multiple of the cheapest allocator's that is no policy;
/// of each cell's verdict "why" a promise is not kept there, as far as that is known ("open" where it is not, empty
/// where both are kept).
void add_verdicts(zerotax::Json& document);
