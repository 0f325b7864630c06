#include <asm/hwcap.h>
#include <sys/auxv.h>

#include <cstdint>

#include "os/processor.h"

namespace zerotax {

/// The processor's number begins with its maker's. QEMU's -cpu max has 0, which is reserved for software (target/arm/
/// cpu64.c). Linux reads it for us (Documentation/arm64/cpu-feature-registers.rst).
bool cpu_is_emulated() {
  if ((::getauxval(AT_HWCAP) & HWCAP_CPUID) == 0) return false;
  std::uint64_t number = 0;
  asm("mrs %0, midr_el1" : "=r"(number));
  return (number >> 24 & 0xff) == 0;
}

}  // namespace zerotax
