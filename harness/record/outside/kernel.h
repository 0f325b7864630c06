#pragma once

#include <string>

#include "record/kernel_part.h"
#include "record/outside/watch.h"

namespace zerotax::record {

/// What the kernel zeroed for a program, as it is seen from outside.
struct OutsideKernel {
  enum class Method {
    kCounted,  ///< each page, by a tracepoint
    kSampled,  ///< minor faults, divided as samples of them say
    kBounded,  ///< between the growth of what the program holds, and a page for each fault
  };
  KernelPart part;
  Method method = Method::kBounded;
  IntervalBytes zeroed_interval;    ///< 95 %, kSampled
  IntervalBytes refilled_interval;  ///< as the peak between two looks was higher than at them, or not
  std::uint64_t unseen_faults = 0;  ///< of processes, and after last looks, that nobody looked at
};

OutsideKernel outside_kernel(const OutsideData& data);

/// counted, sampled or bounded.
const char* method_name(OutsideKernel::Method method);

}  // namespace zerotax::record
