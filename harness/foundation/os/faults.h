#pragma once

#include <cstdint>

namespace zerotax {

/// Minor page faults of the calling thread so far (getrusage(2), RUSAGE_THREAD): faults that needed no input or output.
/// Before Linux 6.0 major faults, too, as which it counts those on shared memory. Negative if the kernel does not say.
std::int64_t thread_minor_faults();

/// The same of all threads of the process together, those that have ended included.
std::int64_t process_minor_faults();

}  // namespace zerotax
