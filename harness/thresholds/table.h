#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/allocators.h"
#include "thresholds/search.h"

namespace zerotax::thresholds {

/// One allocator under one touch and thread, searched from the smallest size to the largest.
struct ThresholdLane {
  Allocator allocator;
  double touch = 0;
  std::string thread;  ///< "main" or "worker"
  bool searched = false;
  ThresholdSearch found;
  /// Of the first probe that failed, as in "at 64 KiB: crashed: …"; empty if none did. With a value,
  /// so that one may be made without naming it.
  std::string failure = "";  // NOLINT(readability-redundant-string-init)
  std::string host = "";     ///< of a fleet, which searched it; else empty  NOLINT(readability-redundant-string-init)
};

/// Why a lane is evidence of a failing allocator rather than of sizes at which a good one changes behaviour; empty if
/// it does not.
std::string failure_of(const ThresholdLane& lane);

/// The object of "zerotax.thresholds/1" (results/schema/thresholds.schema.json), with its map if it is of kPlainCase;
/// any other case is its "case". `started` as utc_now() gives it.
Json thresholds_json(const std::vector<ThresholdLane>& lanes, const std::string& case_name, std::uint64_t from,
                     std::uint64_t to, const std::string& started, const Json& environment);

/// Takes over what an earlier search of the same range found in a lane, from the object that thresholds_json made.
/// Nothing happens if the lane is not in it, or belongs to another case or version of the allocator. Throws UsageError
/// if it is not such an object; `file` is for the message.
void take_over(const Json& earlier, ThresholdLane& lane, const std::string& case_name, std::uint64_t from,
               std::uint64_t to, const std::string& file);

/// A table of at most 80 columns: each threshold with what changes in words. Lanes of one allocator that change at the
/// same sizes in the same way are shown once.
std::string thresholds_text(const std::vector<ThresholdLane>& lanes);

}  // namespace zerotax::thresholds
