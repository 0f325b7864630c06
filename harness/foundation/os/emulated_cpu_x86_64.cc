#include <cpuid.h>

#include <cstring>

#include "os/processor.h"

namespace zerotax {

bool cpu_is_emulated() {
  constexpr unsigned kFeatures = 1;
  constexpr unsigned kHypervisorBit = 1U << 31;
  constexpr unsigned kHypervisorName = 0x40000000;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  // Without a hypervisor, this CPUID leaf contains other data.
  if (__get_cpuid(kFeatures, &a, &b, &c, &d) == 0 || (c & kHypervisorBit) == 0) return false;
  __cpuid(kHypervisorName, a, b, c, d);
  const unsigned name[3] = {b, c, d};
  return std::memcmp(&name[0], "TCGTCGTCGTCG", sizeof name) == 0;
}

}  // namespace zerotax
