#pragma once

namespace zerotax {

/// Whether the CPU is emulated instruction by instruction (QEMU without KVM), so that no time that is measured here
/// says anything about hardware. Known by the name of the hypervisor in CPUID's leaf 0x40000000 on x86-64, and by the
/// maker of the processor on arm64.
bool cpu_is_emulated();

}  // namespace zerotax
