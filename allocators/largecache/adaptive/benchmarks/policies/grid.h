#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "contenders.h"

/// One cell of the grid: every contender, measured side by side in the same rounds.
struct Cell {
  LoopWords words;
  std::map<std::string, std::vector<LoopFigures>> figures;  ///< by contender, a value a round; "limit" among them
  /// The figures of adaptive and the cheapest contenders from further rounds, equally many for each; the verdict
  /// compares these. The least of many scattered figures is too low, so the rounds that select a rival do not count
  /// against it.
  std::map<std::string, std::vector<LoopFigures>> again;
  std::map<std::string, std::int64_t> zeroed;  ///< bytes per operation; -1: not measured

  /// The least nanoseconds per operation of all rounds; 0 if a process of the contender failed. It is the least because
  /// the machine adds one of two values, which depends on the previous work of that processor (docs/method.md).
  [[nodiscard]] double ns(const std::string& contender) const;
  /// The same over the rounds of `again`; 0 for a contender that is not in them.
  [[nodiscard]] double again_ns(const std::string& contender) const;
  /// Median minor faults per operation.
  [[nodiscard]] double faults(const std::string& contender) const;
};

/// The two promises of the policy `adaptive`, for one cell.
struct Verdict {
  std::string best_allocator;  ///< the cheapest contender that is no policy of largecache
  std::string best_other;      ///< the cheapest contender other than adaptive
  double to_best_allocator;    ///< adaptive's time as a multiple of best_allocator's
  double to_best_other;
  bool ten_times_promised;  ///< the block has at least 20 MiB, and under 10 % is touched
  /// near_kept: at most 1.05 times the cheapest other contender. ten_times_kept: at most a tenth of the cheapest other
  /// allocator, where that is promised.
  bool near_kept;
  bool ten_times_kept;
};

/// The rivals of adaptive in further rounds: the two cheapest others, and the cheapest allocator that is no policy.
/// Fewer if there are fewer contenders.
std::vector<std::string> rivals_of(const Cell& cell, const std::vector<Contender>& contenders);

/// Judges a cell by the rounds of `again`.
Verdict judge(const Cell& cell, const std::vector<Contender>& contenders);

/// One table: a row a cell, a column a contender, in microseconds.
std::string cells_text(const std::string& heading, const std::vector<Cell>& cells,
                       const std::vector<Contender>& contenders);

/// The causes of the times, for audited cells: minor faults and MiB that the allocator zeroed, per operation.
std::string causes_text(const std::string& heading, const std::vector<Cell>& cells,
                        const std::vector<Contender>& contenders);

/// {"sizes", "touch", "pattern", "threads", "limit_ns", "contenders": {name: {...}}, "verdict": {...}}
zerotax::Json cell_json(const Cell& cell, const std::vector<Contender>& contenders);

/// Adds or replaces the conclusions in a document of benchmark-policies. "policies" are largecache's.
/// "to_best_allocator" of each contender of a cell is its time as a multiple of that of the cheapest allocator that is
/// no policy. "why" in each cell's verdict is the reason for a broken promise ("open" if unknown, empty if both
/// promises are kept).
void add_verdicts(zerotax::Json& document);
