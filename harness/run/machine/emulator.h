#pragma once

namespace zerotax::machine {

/// The QEMU that emulates this processor, and its options.
struct Emulator {
  const char* program;
  const char* package;        ///< of Debian
  const char* machine;        ///< -machine, with KVM
  const char* machine_alone;  ///< without KVM
  const char* console;        ///< the kernel's name for the serial line
  const char* alone;          ///< added to the kernel's command line without KVM
};

#if defined(__x86_64__)
// Without KVM the kernel would calibrate clocks against each other, for seconds, and trust none.
inline constexpr Emulator kEmulator{.program = "qemu-system-x86_64",
                                    .package = "qemu-system-x86",
                                    .machine = "pc,hpet=off,mem-merge=off",
                                    .machine_alone = "pc,hpet=off,mem-merge=off",
                                    .console = "ttyS0",
                                    .alone = " tsc=reliable clocksource=tsc"};
#else
inline constexpr Emulator kEmulator{.program = "qemu-system-aarch64",
                                    .package = "qemu-system-arm",
                                    .machine = "virt,gic-version=host,mem-merge=off",
                                    .machine_alone = "virt,mem-merge=off",
                                    .console = "ttyAMA0",
                                    .alone = ""};
#endif

}  // namespace zerotax::machine
