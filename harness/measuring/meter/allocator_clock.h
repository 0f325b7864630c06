#pragma once

#include "meter/sample_block.h"

namespace zerotax {

/// Replaces the time that an allocator reads during its calls, to suppress or force its time-driven work. Replaces
/// clock_gettime, gettimeofday, time and timespec_get in the GOT slots of all loaded objects. Also replaces getloadavg,
/// whose result depends on the machine's load in the minutes before. Other threads are not affected. Code that reads
/// the processor's counter, or makes system calls by its own instructions, is not affected either.
class AllocatorClock {
 public:
  /// Replaces the slots, once per process. With ClockMode::kReal, replaces nothing.
  static void install(ClockMode mode);

  /// While an object of this class lives, the calling thread reads times according to the clock's mode.
  class Scope {
   public:
    Scope();
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
};

}  // namespace zerotax
