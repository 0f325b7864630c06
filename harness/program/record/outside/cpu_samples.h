#pragma once

#include <cstdint>
#include <optional>

#include "observe/frame.h"
#include "os/perf_sampler.h"
#include "record/tax.h"

namespace zerotax::record {

/// `hits` of `trials` samples of a time. Nothing if there were no samples.
std::optional<SampledTime> sampled_time(std::uint64_t hits, std::uint64_t trials, std::uint64_t ns);

/// Counts what threads were doing when their CPU time was sampled.
class CpuSamples {
 public:
  /// In the recorder's thread; `stack` outermost first, the kernel's part last. Returns whether it stored zeros.
  bool add(const PerfEvent& event, const Stack& stack);

  std::uint64_t all = 0;
  std::uint64_t user = 0;
  std::uint64_t zeros = 0;         ///< of user: storing zeros
  std::uint64_t unknown_fill = 0;  ///< of user: storing a byte that is not known
  std::uint64_t faults = 0;        ///< in the kernel, in a page fault
  std::uint64_t clearing = 0;      ///< of faults: clearing a page
  std::uint64_t returning = 0;     ///< in the kernel, in a system call that returns memory
};

}  // namespace zerotax::record
