#include <cpuid.h>

#include "clock_source.h"

namespace zerotax::recorder {

const char* invariant_clock_source() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0 ? " tsc " : nullptr;
}

}  // namespace zerotax::recorder
