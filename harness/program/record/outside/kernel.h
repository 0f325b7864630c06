#pragma once

#include <string>

#include "record/kernel_part.h"
#include "record/outside/watch.h"

namespace zerotax::record {

/// What the kernel zeroed for a program, as it is seen from outside.
struct OutsideKernel {
  KernelPart part;
  ZeroedBy method = ZeroedBy::kBounded;
  LowHigh zeroed_interval;  ///< 95 %, kSampled
  std::uint64_t zeroed_at_least = 0;
  LowHigh refilled_interval;        ///< from the ends of zeroed_interval; for the low end, with a peak that was higher
                                    ///< between looks
  std::uint64_t unseen_faults = 0;  ///< of processes, and after last looks, that nobody looked at
};

OutsideKernel outside_kernel(const OutsideData& data);

}  // namespace zerotax::record
