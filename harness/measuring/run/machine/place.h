#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/processor.h"

namespace zerotax::machine {

/// A processor that a virtual machine can have, the QEMU that emulates it, and that QEMU's options.
struct Emulator {
  std::string_view processor;  ///< as uname -m calls it
  const char* debian;          ///< Debian's name of it
  const char* program;
  const char* package;        ///< of Debian
  const char* machine;        ///< -machine, with KVM
  const char* machine_alone;  ///< without KVM
  const char* cpu_alone;      ///< -cpu, without KVM
  const char* console;        ///< the kernel's name for the serial line
  const char* alone;          ///< added to the kernel's command line without KVM
};

inline constexpr Emulator kEmulators[] = {
    // Without KVM the kernel would calibrate clocks against each other, for seconds, and trust none.
    {.processor = "x86_64",
     .debian = "amd64",
     .program = "qemu-system-x86_64",
     .package = "qemu-system-x86",
     .machine = "pc,hpet=off,mem-merge=off",
     .machine_alone = "pc,hpet=off,mem-merge=off",
     .cpu_alone = "max",
     .console = "ttyS0",
     .alone = " tsc=reliable clocksource=tsc"},
    // QEMU's "max" signs addresses in software, which takes half of the time, and kernels before 5.12 do not boot on
    // it.
    {.processor = "aarch64",
     .debian = "arm64",
     .program = "qemu-system-aarch64",
     .package = "qemu-system-arm",
     .machine = "virt,gic-version=host,mem-merge=off",
     .machine_alone = "virt,mem-merge=off",
     .cpu_alone = "max,pauth=off,lpa2=off,sve=off,sme=off",
     .console = "ttyAMA0",
     .alone = ""}};

/// Of this processor, by uname's name or by Debian's; nullptr: there is none.
constexpr const Emulator* emulator_for(std::string_view processor) {
  const auto* const found = std::find_if(std::begin(kEmulators), std::end(kEmulators), [&](const Emulator& each) {
    return each.processor == processor || each.debian == processor;
  });
  return found == std::end(kEmulators) ? nullptr : found;
}

/// Of the processor that this program is built for.
inline constexpr const Emulator* kOwnEmulator = emulator_for(kDebianArchitecture);

/// A virtual machine to run a command in: what follows "vm:" in --on.
struct MachinePlace {
  std::string kernel;  ///< a release of Debian ("bookworm"), whose kernel it is, or the path of a kernel image
  const Emulator* emulator = kOwnEmulator;
  std::string page;   ///< "16k" where the kernel's pages are not of 4 KiB
  std::string build;  ///< a build of zerotax for another processor; empty: build-arm64 beside this one
  std::string thp;    ///< "always", "madvise", "never"; empty: as the kernel has it
  std::uint64_t memory_bytes = 0;
  unsigned cpus = 2;
  std::string boot_options;  ///< for the kernel: " sysctl.kernel.perf_event_paranoid=2"

  [[nodiscard]] bool is_other_processor() const { return emulator != kOwnEmulator; }
  [[nodiscard]] bool is_release() const { return kernel.find('/') == std::string::npos; }
};

/// Nothing if `place` does not begin with "vm:". Throws UsageError for one that is not
/// vm:KERNEL[,arch=x86_64|aarch64][,page=4K|16K][,build=FOLDER][,thp=always|madvise|never][,memory=SIZE][,cpus=N]
/// [,sysctl.NAME=VALUE].
std::optional<MachinePlace> parse_place(const std::string& place);

}  // namespace zerotax::machine
