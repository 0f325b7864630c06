#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/document_head.h"
#include "judge/search.h"
#include "point/allocator.h"

namespace zerotax::thresholds {

/// One allocator under one touch and thread, searched from the smallest size to the largest.
struct ThresholdLane {
  Allocator allocator;
  double touch = 0;
  std::string thread;  ///< "main" or "worker"
  bool searched = false;
  ThresholdSearch found;
  std::uint64_t from_bytes = 0;  ///< the smallest size
  std::uint64_t to_bytes = 0;    ///< the largest
  /// Of the first probe that failed, as in "at 64 KiB: crashed: …"; empty if none did. With a value, so that one may be
  /// made without naming it.
  std::string failure = "";  // NOLINT(readability-redundant-string-init)
  std::string host = {};     ///< of a fleet, which searched it; else empty
                             ///< NOLINT(readability-redundant-string-init)
};

/// Why a lane is evidence of a failing allocator rather than of sizes at which a good one changes behaviour; empty if
/// it does not.
std::string failure_of(const ThresholdLane& lane);

inline constexpr const char* kSchema = "zerotax.thresholds/1";

/// A search for thresholds, as far as it was made.
struct Thresholds : DocumentHead {
  std::string case_name = kPlainCase;
  Json environments = {};  ///< of a fleet, by host; else null
  std::vector<ThresholdLane> lanes;

  [[nodiscard]] bool is_plain() const { return case_name == kPlainCase; }
};

}  // namespace zerotax::thresholds
