#include "os/faults.h"

#include <sys/resource.h>

namespace zerotax {

std::int64_t thread_minor_faults() {
  rusage usage{};
  // RUSAGE_THREAD is 1; glibc shows the name only under _GNU_SOURCE, which g++ defines.
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt : -1;
}

}  // namespace zerotax
