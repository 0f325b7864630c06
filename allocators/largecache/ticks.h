// The clock with which the strategies of zeroing are compared.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_TICKS_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_TICKS_H_

#include <cstdint>
#include <ctime>

namespace zerotax::largecache {

/// Returns the processor's counter if there is one, otherwise nanoseconds. Reading either clock is cheap.
inline std::uint64_t ticks_now() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_TICKS_H_
