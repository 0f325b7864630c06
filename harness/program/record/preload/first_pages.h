#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/state.h"

namespace zerotax::record {

/// Which small blocks have the kernel populate pages: one call now and then is looked at, chosen at random, and stands
/// for those since the one before. The faults in the call count, and the pages of the block that are not populated when
/// the program gets it. How often, the time decides that a look takes: about 1 % of the program's.
class FirstPages {
 public:
  explicit FirstPages(ThreadState& thread);
  /// The call has returned a block: puts down what the kernel zeroes for it to its call stack.
  void note(SiteKind kind, const void* block, std::size_t bytes) const;

 private:
  ThreadState& thread_;
  std::int64_t faults_;  ///< without the recorder's own
};

/// The first call of a thread that is looked at.
void begin_looks(ThreadState& thread);

}  // namespace zerotax::record
