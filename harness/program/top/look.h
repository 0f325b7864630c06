#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/memory.h"

namespace zerotax::top {

/// A process as /proc showed it at one moment; counts since its start.
struct Process {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< with the PID, it names one process
  pid_t parent = 0;
  std::string name;
  uid_t user = 0;
  std::string cgroup;  ///< filled in only if it was asked for
  bool kernel_thread = false;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::int64_t cpu_ns = 0;
  std::uint64_t children_minor_faults = 0;  ///< of children that were waited for
  std::uint64_t children_major_faults = 0;
  std::int64_t children_cpu_ns = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t anonymous_bytes = 0;  ///< resident, and not shared
};

/// The machine at one moment.
struct Look {
  std::int64_t time_ns = 0;           ///< CLOCK_MONOTONIC, when the look began
  std::uint64_t boot_ticks = 0;       ///< the same in ticks since boot, as start_ticks count
  std::vector<Process> processes;     ///< by PID
  std::size_t hidden = 0;             ///< processes that are listed, but may not be read
  VmEvents machine;                   ///< since boot
  std::optional<std::uint64_t> huge;  ///< bytes populated in pieces larger than a page, since boot
};

}  // namespace zerotax::top
