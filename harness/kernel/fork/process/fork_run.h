#pragma once

#include <cstdint>

namespace zerotax {

/// The interface between `zerotax fork` and libexec/fork-target, the process that forks for it. It is plain data in a
/// shared memory file, whose pages no fork copies.
inline constexpr std::uint32_t kMostForks = 8192;
inline constexpr std::uint64_t kForkRunMagic = 0x5a46'0001'0000'0000;

/// How a child is made.
enum class ForkMethod : std::uint32_t {
  kClone,    ///< clone(2)
  kRefused,  ///< clone(2) with flags that it refuses at once: the cost of entering and leaving the kernel
  kSpawn,    ///< posix_spawn(3) of the target itself, which then ends at once
};

struct ForkRun {
  std::uint64_t magic;
  // The request.
  std::uint32_t forks;  ///< at most kMostForks
  ForkMethod method;
  std::uint64_t clone_flags;  ///< of clone(2), beside SIGCHLD; 0: a fork
  // The answer.
  std::uint32_t done;          ///< children made
  std::int32_t error;          ///< errno of the first that could not be made, or 0
  std::int64_t wall_ns;        ///< all of it, CLOCK_MONOTONIC
  double call_ns[kMostForks];  ///< the system call in the parent, by the CPU's time stamp counter
  double gone_ns[kMostForks];  ///< from its beginning until the child was waited for
};

}  // namespace zerotax
