#include "os/thread_usage.h"

#include <sys/resource.h>

#include "os/clock.h"

namespace zerotax {
ThreadUsage thread_usage() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return {in_ns(usage.ru_utime), in_ns(usage.ru_stime), usage.ru_minflt, usage.ru_nvcsw, usage.ru_nivcsw};
}

}  // namespace zerotax
