#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zerotax {

/// What memory there is, in bytes. A limit that is not set, or cannot be read, is empty.
struct MemoryState {
  std::uint64_t total = 0;                    ///< MemTotal
  std::uint64_t available = 0;                ///< MemAvailable
  std::uint64_t swap = 0;                     ///< SwapTotal
  std::optional<std::uint64_t> cgroup_limit;  ///< the tightest limit of this process's cgroup and its ancestors
  std::optional<std::uint64_t>
      cgroup_available;  ///< that limit less what is used, reclaimable file pages not subtracted

  /// The memory that a new process can use before something is killed.
  [[nodiscard]] std::uint64_t usable() const {
    return cgroup_available && *cgroup_available < available ? *cgroup_available : available;
  }
};

/// Reads /proc/meminfo (or asks sysinfo(2) where /proc is not mounted) and the cgroup (v2, and v1's memory controller).
/// `root` replaces "/" in tests.
MemoryState read_memory_state(const std::string& root = "");

/// Resident set of a process in bytes (/proc/PID/statm), or empty if it is gone.
std::optional<std::uint64_t> resident_bytes(pid_t pid);

/// Times that the kernel killed a process for want of memory since boot (/proc/vmstat, oom_kill), or empty.
std::optional<std::uint64_t> oom_kills();

/// Writes to `bytes` of fresh memory and gives it back, so that a virtual machine's host has backed it: a first touch
/// of memory that the host had not backed is up to ten times slower. Returns false if interrupted by `stop`.
bool warm_up_memory(std::uint64_t bytes, bool (*stop)());

/// Events of the whole machine since boot, all its containers included (/proc/vmstat; mm/vmstat.c of the kernel).
/// Empty: this kernel does not count it.
struct VmEvents {
  std::optional<std::uint64_t> faults;           ///< pgfault: minor and major, and again if the kernel had to try again
  std::optional<std::uint64_t> major_faults;     ///< pgmajfault
  std::optional<std::uint64_t> allocated_pages;  ///< pgalloc_* of all zones, for files and the kernel too
  std::optional<std::uint64_t> freed_pages;      ///< pgfree
  std::optional<std::uint64_t> huge_pages_now;   ///< nr_anon_transparent_hugepages: those that are mapped
};

VmEvents parse_vm_events(std::string_view text);
/// All empty if /proc/vmstat cannot be read.
VmEvents read_vm_events();

}  // namespace zerotax
