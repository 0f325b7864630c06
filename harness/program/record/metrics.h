#pragma once

#include "record/result.h"

namespace zerotax::record {

/// Over the sizes.
template <typename Row>
Row sum_of(const Row (&rows)[kClasses]) {
  Row all{};
  for (const Row& row : rows) all.add(row);
  return all;
}

/// By how much an estimate may be too high and too low: 95 % confidence, in bytes.
struct Interval {
  std::uint64_t below = 0;
  std::uint64_t above = 0;

  /// What it makes of an estimate.
  [[nodiscard]] LowHigh around(std::uint64_t bytes) const;
};

/// Of the bytes that were returned to the kernel in small parts: 0 and 0 if all of them were looked at.
Interval returned_interval(const SmallReturns& small);

/// Small stores are neither timed nor examined: where there were no others, time and redundancy are n/a.
Metrics metrics_of(const Tally& tally);

/// A row for each power of two that was called for.
std::vector<SizeRow> histogram_of(const Tally& tally);

/// Of the large stores of zeros, the program's own included.
ZeroCost zeroing_cost(const Tally& tally);

/// Bytes zeroed, by the program itself, too.
std::uint64_t zeroed_bytes(const Tally& tally);

}  // namespace zerotax::record
