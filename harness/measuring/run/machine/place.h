#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/machine/emulator.h"

namespace zerotax::machine {

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
