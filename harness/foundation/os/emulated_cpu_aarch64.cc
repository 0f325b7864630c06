#include <asm/hwcap.h>
#include <sys/auxv.h>

#include <cstdint>

#include "os/processor.h"

namespace zerotax {

/// The processor's ID register begins with the implementer. QEMU's -cpu max has implementer 0, which is reserved for
/// software (target/arm/cpu64.c). Linux emulates reads of the register (Documentation/arm64/cpu-feature-registers.rst).
bool cpu_is_emulated() {
  if ((::getauxval(AT_HWCAP) & HWCAP_CPUID) == 0) return false;
  std::uint64_t number = 0;
  asm("mrs %0, midr_el1" : "=r"(number));
  return (number >> 24 & 0xff) == 0;
}

}  // namespace zerotax
