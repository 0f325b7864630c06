#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "contenders.h"

/// One cell of the grid. All contenders were measured in the same rounds.
struct Cell {
  LoopWords words;
  std::map<std::string, std::vector<LoopFigures>> figures;  ///< one value per round, by contender; "limit" is the
                                                            ///< memset without an allocator
  /// Times of `adaptive` and its rivals in further rounds, equally many for each contender. The verdict uses only these
  /// times. The minimum of the first rounds, which selects the rivals, is biased: it is too low if times scatter.
  std::map<std::string, std::vector<LoopFigures>> again;
  std::map<std::string, std::int64_t> zeroed;  ///< zeroed bytes per operation; -1 if unknown

  /// Returns the minimum of nanoseconds per operation over all rounds; 0 if a process of the contender failed. The
  /// minimum is used because the machine adds one of two delays, depending on the processor's previous work
  /// (docs/method.md).
  [[nodiscard]] double ns(const std::string& contender) const;
  /// Returns the minimum of nanoseconds per operation over the rounds of `again`; 0 for a contender that did not run in
  /// these rounds.
  [[nodiscard]] double again_ns(const std::string& contender) const;
  /// Returns the median of minor faults per operation.
  [[nodiscard]] double faults(const std::string& contender) const;
};

/// The two promises of the policy `adaptive`, for one cell.
struct Verdict {
  std::string best_allocator;  ///< the cheapest contender that is not a policy of largecache
  std::string best_other;      ///< the cheapest contender other than adaptive
  double to_best_allocator;    ///< time of `adaptive`, as a multiple of the time of best_allocator
  double to_best_other;
  bool ten_times_promised;  ///< whether the block has at least 20 MiB and less than 10 % of it is touched
  /// near_kept: `adaptive` takes at most 1.05 times as long as best_other. ten_times_kept: if ten_times_promised,
  /// `adaptive` takes at most a tenth of best_allocator's time.
  bool near_kept;
  bool ten_times_kept;
};

/// Returns the rivals of `adaptive` for further rounds: the two cheapest other contenders, and the cheapest allocator
/// that is not a policy. Returns fewer rivals if there are fewer contenders.
std::vector<std::string> rivals_of(const Cell& cell, const std::vector<Contender>& contenders);

/// Judges a cell by the rounds of `again`.
Verdict judge(const Cell& cell, const std::vector<Contender>& contenders);

/// Formats a table in microseconds, with a row per cell and a column per contender.
std::string cells_text(const std::string& heading, const std::vector<Cell>& cells,
                       const std::vector<Contender>& contenders);

/// Formats the causes of the times, for audited cells: minor faults and MiB that the allocator zeroed, per operation.
std::string causes_text(const std::string& heading, const std::vector<Cell>& cells,
                        const std::vector<Contender>& contenders);

/// Returns {"sizes", "touch", "pattern", "threads", "limit_ns", "contenders": {name: {...}}, "verdict": {...}}.
zerotax::Json cell_json(const Cell& cell, const std::vector<Contender>& contenders);

/// Adds or replaces the conclusions in a document of benchmark-policies. "policies" lists the policies of largecache.
/// In each cell, "to_best_allocator" of a contender is its time as a multiple of the cheapest allocator's. Policies do
/// not count as allocators here. "why" in the verdict is the reason for a broken promise: "open" if unknown, empty if
/// both promises are kept.
void add_verdicts(zerotax::Json& document);
