#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/state.h"

namespace zerotax::record {

/// Finds the small blocks for which the kernel populates pages. A randomly chosen call is examined, and stands for all
/// calls since the previous examined call. FirstPages counts the faults in that call, and the pages of its block that
/// are unpopulated when the program gets the block. The interval adapts to the duration of a sample, so that samples
/// take about 1 % of the program's time.
class FirstPages {
 public:
  explicit FirstPages(ThreadState& thread);
  /// Attributes to the current call stack the bytes that the kernel zeroes for the block. Call this when the examined
  /// call has returned a block.
  void note(SiteKind kind, const void* block, std::size_t bytes) const;

 private:
  ThreadState& thread_;
  std::int64_t faults_;  ///< faults of the thread, without those of the recorder
};

/// Chooses the first call of a thread to examine.
void begin_looks(ThreadState& thread);

}  // namespace zerotax::record
