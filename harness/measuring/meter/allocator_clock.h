#pragma once

#include "meter/sample_block.h"

namespace zerotax {

/// The time that an allocator reads while one of its calls runs, so that its time-driven work can be suppressed or
/// forced: clock_gettime, gettimeofday, time and timespec_get are replaced in the GOT slots of all loaded
/// objects, and so is getloadavg, which depends on what the machine did in the minutes before. Code that reads the
/// processor's counter, or asks the kernel by an instruction of its own, is not reached; nor are other threads than the
/// calling one.
class AllocatorClock {
 public:
  /// Replaces the slots; once per process. With ClockMode::kReal nothing is replaced.
  static void install(ClockMode mode);

  /// While it lives, the calling thread reads the time of the mode.
  class Scope {
   public:
    Scope();
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
};

}  // namespace zerotax
