#pragma once

#include <cstdint>

namespace zerotax {

/// The interface between `zerotax fork` and libexec/fork-target, the process that makes the forks. The interface is
/// plain data in a shared memory file, because fork does not copy the pages of shared memory.
inline constexpr std::uint32_t kMostForks = 8192;
inline constexpr std::uint64_t kForkRunMagic = 0x5a46'0001'0000'0000;

/// The call that makes a child.
enum class ForkMethod : std::uint32_t {
  kClone,    ///< clone(2)
  kRefused,  ///< clone(2) with flags that the kernel refuses at once, to measure the cost of entering and leaving the
             ///< kernel
  kSpawn,    ///< posix_spawn(3) of the target's own program, whose new process ends at once
};

struct ForkRun {
  std::uint64_t magic;
  // The request.
  std::uint32_t forks;  ///< number of forks, at most kMostForks
  ForkMethod method;
  std::uint64_t clone_flags;  ///< flags of clone(2) besides SIGCHLD; 0 for a fork
  // The answer.
  std::uint32_t done;          ///< number of children that were made
  std::int32_t error;          ///< errno of the first child that could not be made, or 0
  std::int64_t wall_ns;        ///< time of all forks together, CLOCK_MONOTONIC
  double call_ns[kMostForks];  ///< time of the system call in the parent, by the CPU's time stamp counter
  double gone_ns[kMostForks];  ///< time from the beginning of the call until the parent has waited for the child
};

}  // namespace zerotax
