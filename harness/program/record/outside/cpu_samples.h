#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "observe/frame.h"
#include "os/perf_sampler.h"
#include "record/tax.h"

namespace zerotax::record {

/// Kind of data that a sampled thread was writing, according to its innermost function.
enum class Filling {
  kNone,
  kZeros,    ///< zeros
  kByValue,  ///< the value of the function's second argument
};

/// Recognizes a function in user mode by name. The function may belong to the C library, to a program that contains the
/// C library (static, musl), to a runtime or to an allocator.
Filling filling_of(const std::string& function);

/// Whether a function writes or copies memory, or makes a system call, on behalf of its caller. A site then names the
/// caller.
bool works_for_caller(const std::string& function);

/// The part of a program in which the sampled thread was returning memory: a call to free or realloc, the allocator or
/// runtime by its own decision, or the program itself. The stack's frames are innermost first.
enum class ReturnedIn { kFree, kPurge, kProgram };
ReturnedIn returned_in(const Stack& stack);

/// Work of the kernel when a sample was taken.
enum class KernelWork { kOther, kFault, kClearing, kReturning };

/// Classifies a stack by all of its kernel frames, outermost first. kClearing is a part of kFault.
KernelWork kernel_work(const Stack& stack);

/// Returns the part of a time that `hits` of `trials` samples represent, or nothing if there were no samples.
std::optional<SampledTime> sampled_time(std::uint64_t hits, std::uint64_t trials, std::uint64_t ns);

/// Counts the kinds of work of threads when their CPU time was sampled.
class CpuSamples {
 public:
  /// Adds a sample. Call this in the recorder's thread. `stack` is outermost first, with the kernel's part last.
  /// Returns whether the sampled thread was storing zeros.
  bool add(const PerfEvent& event, const Stack& stack);

  std::uint64_t all = 0;
  std::uint64_t user = 0;
  std::uint64_t zeros = 0;         ///< samples in user mode, storing zeros
  std::uint64_t unknown_fill = 0;  ///< samples in user mode, storing an unknown byte
  std::uint64_t faults = 0;        ///< samples in the kernel, in a page fault
  std::uint64_t clearing = 0;      ///< samples in a page fault, while clearing a page
  std::uint64_t returning = 0;     ///< samples in the kernel, in a system call that returns memory
};

}  // namespace zerotax::record
