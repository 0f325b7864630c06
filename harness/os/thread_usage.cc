#include "os/thread_usage.h"

#include <sys/resource.h>

namespace zerotax {
namespace {

std::int64_t ns_of(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
}

}  // namespace

ThreadUsage thread_usage() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return {ns_of(usage.ru_utime), ns_of(usage.ru_stime), usage.ru_minflt, usage.ru_nvcsw, usage.ru_nivcsw};
}

}  // namespace zerotax
