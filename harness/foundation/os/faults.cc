#include "os/faults.h"

#include <sys/resource.h>

#include "os/kernel_version.h"

namespace zerotax {

namespace {

// Before Linux 6.0 the first store to a page of shared memory is tried twice, and counted as a major fault.
enum class Counts : signed char { kUnknown, kRight, kSharedAsMajor };
Counts counts = Counts::kUnknown;

std::int64_t minor_faults(__rusage_who_t who) {
  if (counts == Counts::kUnknown) counts = kernel_is_at_least(6, 0) ? Counts::kRight : Counts::kSharedAsMajor;
  rusage usage{};
  if (::getrusage(who, &usage) != 0) return -1;
  return usage.ru_minflt + (counts == Counts::kSharedAsMajor ? usage.ru_majflt : 0);
}

}  // namespace

// RUSAGE_THREAD is 1; glibc shows the name only under _GNU_SOURCE, which g++ defines.
std::int64_t thread_minor_faults() { return minor_faults(RUSAGE_THREAD); }

std::int64_t process_minor_faults() { return minor_faults(RUSAGE_SELF); }

}  // namespace zerotax
