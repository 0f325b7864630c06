#pragma once

namespace zerotax::machine {

/// QEMU of this processor, and what it is told besides.
struct Emulator {
  const char* program;
  const char* package;        ///< of Debian
  const char* machine;        ///< -machine, with KVM
  const char* machine_alone;  ///< and without
  const char* console;        ///< the kernel's name for the serial line
  const char* alone;          ///< of the kernel's command line, where there is no KVM
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
