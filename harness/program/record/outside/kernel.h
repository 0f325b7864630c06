#pragma once

#include <string>

#include "record/kernel_part.h"
#include "record/outside/watch.h"

namespace zerotax::record {

/// What the kernel zeroed for a program, as it is seen from outside.
struct OutsideKernel {
  KernelPart part;
  ZeroedBy method = ZeroedBy::kBounded;
  IntervalBytes zeroed_interval;  ///< 95 %, kSampled
  std::uint64_t zeroed_at_least = 0;
  IntervalBytes
      refilled_interval;  ///< by the ends of what was zeroed, and as the peak was higher than at looks, or not
  std::uint64_t unseen_faults = 0;  ///< of processes, and after last looks, that nobody looked at
};

OutsideKernel outside_kernel(const OutsideData& data);

}  // namespace zerotax::record
