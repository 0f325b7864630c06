#pragma once

#include "meter/record.h"

namespace zerotax {

/// The time that an allocator is told while one of its calls runs, so that what it does by the clock can be kept still
/// or be brought out: clock_gettime, gettimeofday, time and timespec_get are replaced in the GOT slots of all loaded
/// objects. Code that reads the processor's counter, or asks the kernel by an instruction of its own, is not reached;
/// nor are other threads than the calling one.
class AllocatorClock {
 public:
  /// Replaces the slots; once per process. With ClockMode::kReal nothing is replaced.
  static void install(ClockMode mode);

  /// While it lives, the calling thread is told the time of the mode.
  class Scope {
   public:
    Scope();
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
};

}  // namespace zerotax
