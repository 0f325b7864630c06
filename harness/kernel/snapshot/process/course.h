#pragma once

#include <cstdint>
#include <optional>

#include "snapshot/process/alternative.h"
#include "snapshot/process/writers.h"

namespace snapshot {

/// All faults of this process so far, minor and major, and when that was.
struct FaultCount {
  std::int64_t faults = 0;
  std::int64_t at_ns = 0;
};

/// What happened from the writers' start to their end. Times are CLOCK_MONOTONIC.
struct Course {
  std::int64_t stopped_ns = 0;                   ///< all writers stand still, or are not there yet
  std::int64_t released_ns = 0;                  ///< what the alternative does at that instant is done
  std::int64_t went_on_ns = 0;                   ///< later than that only with a hold
  std::int64_t gone_ns = 0;                      ///< the child was waited for, or the copying threads were joined
  std::int64_t remedied_ns = 0;                  ///< what the alternative does after that is done
  FaultCount before;                             ///< when all writers stood still
  FaultCount after;                              ///< when all writers had ended
  std::optional<std::uint64_t> exclusive_pages;  ///< of the array, when the child had ended
};

/// Starts the writers, takes the snapshot (or the other way round, if the alternative begins first), and joins them.
/// Throws what the alternative throws; then threads may stand where they stood.
Course run_course(Alternative& alternative, Job& job, Writers& writers);

}  // namespace snapshot
