#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "findings/redundant_calls.h"

namespace zerotax::findings {

/// Neighbouring sizes of the measured grid, both ends included, in bytes.
struct SizeSpan {
  std::uint64_t from;
  std::uint64_t to;
};

/// What one size costs, in the steady state with nothing touched. Empty: not measured.
struct SizeCost {
  std::uint64_t size_bytes;
  std::optional<double> calloc_ns;               ///< median
  std::vector<double> calloc_ns_modes;           ///< where calls are not alike: of each kind, most frequent first
  std::optional<std::uint64_t> redundant_bytes;  ///< lower median
  std::optional<RedundantCalls> paying;          ///< the most frequent kind of call that writes zeros needlessly
};

/// What redundant zeroing costs one allocator, from the points of calloc_loop with touch 0 in the main thread.
struct AllocatorTax {
  std::string label;                   ///< "mimalloc 2.0.9", with its configuration if it has one
  std::vector<SizeSpan> paying;        ///< where calls write zeros needlessly
  std::vector<SizeCost> costs;         ///< of every measured size, ascending
  std::size_t measured = 0;            ///< sizes for which the redundant bytes are known
  std::uint64_t not_measured = 0;      ///< sizes for which they are not
  std::vector<SizeSpan> paying_fresh;  ///< the same for the process's first allocation
  // Of free, at these sizes with whatever the program wrote to its block:
  std::vector<SizeSpan> cleared_in_free;     ///< where it writes zeros over at least half of the block
  std::vector<SizeSpan> needlessly_in_free;  ///< where at least half of the block was zero then
  std::uint64_t free_not_measured = 0;       ///< sizes at which it is not known
  std::vector<std::string> problems;         ///< points that were skipped, crashed and so on: size and reason
};

/// One entry per allocator, in order of appearance.
std::vector<AllocatorTax> find_taxes(const std::vector<Json>& points);

/// "KEY=VALUE KEY=VALUE" of an "env" object.
std::string env_words(const Json& env);

/// "allocator version [KEY=VALUE …]".
std::string allocator_label(const Json& point);

}  // namespace zerotax::findings
