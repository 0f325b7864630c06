#pragma once

namespace zerotax {

/// Whether the CPU is emulated instruction by instruction (QEMU without KVM), so that no time that is measured here
/// says anything about hardware. Known of x86-64 only, by the name of the hypervisor in CPUID's leaf 0x40000000.
bool cpu_is_emulated();

}  // namespace zerotax
