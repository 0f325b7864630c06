#include "os/faults.h"

#include <sys/resource.h>

namespace zerotax {

namespace {

std::int64_t minor_faults(__rusage_who_t who) {
  rusage usage{};
  return ::getrusage(who, &usage) == 0 ? usage.ru_minflt : -1;
}

}  // namespace

// RUSAGE_THREAD is 1; glibc shows the name only under _GNU_SOURCE, which g++ defines.
std::int64_t thread_minor_faults() { return minor_faults(RUSAGE_THREAD); }

std::int64_t process_minor_faults() { return minor_faults(RUSAGE_SELF); }

}  // namespace zerotax
