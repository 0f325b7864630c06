#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "observe/frame.h"
#include "os/perf_sampler.h"
#include "record/tax.h"

namespace zerotax::record {

/// What a sampled thread did with memory, by its innermost function.
enum class Filling {
  kNone,
  kZeros,    ///< it stored zeros
  kByValue,  ///< it stored a byte that its second argument says
};

/// By the name of a function in user mode: of the C library, of a program that has it built in (static, musl), of a
/// runtime or an allocator.
Filling filling_of(const std::string& function);

/// Whether it writes or copies memory, or asks the kernel, for its caller, who is the one to name as a site.
bool works_for_caller(const std::string& function);

/// How a stack came to return memory: in a call of free or realloc, by the allocator's or the runtime's own decision,
/// or by the program itself. Frames innermost first.
enum class ReturnedIn { kFree, kPurge, kProgram };
ReturnedIn returned_in(const Stack& stack);

/// What the kernel did in a sample.
enum class KernelWork { kOther, kFault, kClearing, kReturning };

/// By all frames of the kernel on a stack, outermost first; kClearing is a part of kFault.
KernelWork kernel_work(const Stack& stack);

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
