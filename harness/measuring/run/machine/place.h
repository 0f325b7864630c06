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

/// A processor for virtual machines, the QEMU that emulates it, and options of that QEMU.
struct Emulator {
  std::string_view processor;  ///< name of the processor in uname -m
  const char* debian;          ///< Debian's name of the processor
  const char* program;
  const char* package;        ///< Debian package
  const char* machine;        ///< option -machine with KVM
  const char* machine_alone;  ///< option -machine without KVM
  const char* cpu_alone;      ///< option -cpu without KVM
  const char* console;        ///< kernel's name for the serial line
  const char* alone;          ///< words added to the kernel's command line without KVM
};

inline constexpr Emulator kEmulators[] = {
    // Without KVM, the kernel would calibrate clocks against each other for seconds, and then trust none of them.
    {.processor = "x86_64",
     .debian = "amd64",
     .program = "qemu-system-x86_64",
     .package = "qemu-system-x86",
     .machine = "pc,hpet=off,mem-merge=off",
     .machine_alone = "pc,hpet=off,mem-merge=off",
     .cpu_alone = "max",
     .console = "ttyS0",
     .alone = " tsc=reliable clocksource=tsc"},
    // QEMU's CPU "max" signs addresses in software, which takes half of the time. Kernels before 5.12 do not boot on
    // this CPU.
    {.processor = "aarch64",
     .debian = "arm64",
     .program = "qemu-system-aarch64",
     .package = "qemu-system-arm",
     .machine = "virt,gic-version=host,mem-merge=off",
     .machine_alone = "virt,mem-merge=off",
     .cpu_alone = "max,pauth=off,lpa2=off,sve=off,sme=off",
     .console = "ttyAMA0",
     .alone = ""}};

/// Returns the emulator for a processor, by uname's or by Debian's name; nullptr if there is none.
constexpr const Emulator* emulator_for(std::string_view processor) {
  const auto* const found = std::find_if(std::begin(kEmulators), std::end(kEmulators), [&](const Emulator& each) {
    return each.processor == processor || each.debian == processor;
  });
  return found == std::end(kEmulators) ? nullptr : found;
}

/// The emulator for the processor that this program is built for.
inline constexpr const Emulator* kOwnEmulator = emulator_for(kDebianArchitecture);

/// A virtual machine to run a command in: the text after "vm:" in --on.
struct MachinePlace {
  std::string kernel;  ///< Debian release whose kernel is booted ("bookworm"), or path of a kernel image
  const Emulator* emulator = kOwnEmulator;
  std::string page;   ///< "16k" for pages of 16 KiB; empty for 4 KiB
  std::string build;  ///< build of zerotax for another processor; empty for the folder build-arm64 beside this build
  std::string thp;    ///< "always", "madvise" or "never"; empty for the kernel's default
  std::uint64_t memory_bytes = 0;
  unsigned cpus = 2;
  std::string boot_options;  ///< further options for the kernel, such as " sysctl.kernel.perf_event_paranoid=2"

  [[nodiscard]] bool is_other_processor() const { return emulator != kOwnEmulator; }
  [[nodiscard]] bool is_release() const { return kernel.find('/') == std::string::npos; }
};

/// Parses a place of the form
///   vm:KERNEL[,arch=x86_64|aarch64][,page=4K|16K][,build=FOLDER][,thp=always|madvise|never][,memory=SIZE][,cpus=N]
///   [,sysctl.NAME=VALUE]
/// Returns nothing if `place` does not begin with "vm:". Throws UsageError if the rest is invalid.
std::optional<MachinePlace> parse_place(const std::string& place);

}  // namespace zerotax::machine
