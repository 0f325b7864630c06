#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zerotax {

/// Memory of the machine and of the cgroup, in bytes. A limit is absent if it is not set or cannot be read.
struct MemoryState {
  std::uint64_t total = 0;                    ///< MemTotal
  std::uint64_t available = 0;                ///< MemAvailable
  std::uint64_t swap = 0;                     ///< SwapTotal
  std::optional<std::uint64_t> cgroup_limit;  ///< the tightest limit of this process's cgroup and its ancestors
  std::optional<std::uint64_t>
      cgroup_available;  ///< the tightest limit minus the usage, with reclaimable file pages counted as used

  /// Returns the memory that a new process can use before the kernel kills a process.
  [[nodiscard]] std::uint64_t usable() const {
    return cgroup_available && *cgroup_available < available ? *cgroup_available : available;
  }
};

/// Reads /proc/meminfo (or asks sysinfo(2) if /proc is not mounted) and the cgroup (v2, and v1's memory controller).
/// `root` replaces "/" in tests.
MemoryState read_memory_state(const std::string& root = "");

/// Returns the resident set of a process in bytes (/proc/PID/statm), or nothing if the process has ended.
std::optional<std::uint64_t> resident_bytes(pid_t pid);

/// Returns how often the kernel has killed a process for lack of memory since boot (/proc/vmstat, oom_kill), or nothing
/// without this counter.
std::optional<std::uint64_t> oom_kills();

/// Writes to `bytes` of fresh memory and returns the memory to the kernel. In a virtual machine, the host has then
/// backed this memory. The first write to memory that the host has not backed is up to ten times slower. Returns false
/// if interrupted by `stop`.
bool warm_up_memory(std::uint64_t bytes, bool (*stop)());

/// Events of the whole machine since boot, including its containers (/proc/vmstat; mm/vmstat.c of the kernel). A value
/// is absent if this kernel does not count the event.
struct VmEvents {
  std::optional<std::uint64_t> faults;             ///< pgfault: minor and major faults, including each retry by the
                                                   ///< kernel
  std::optional<std::uint64_t> major_faults;       ///< pgmajfault
  std::optional<std::uint64_t> allocated_pages;    ///< pgalloc_* of all zones, including pages for files and for the
                                                   ///< kernel
  std::optional<std::uint64_t> freed_pages;        ///< pgfree
  std::optional<std::uint64_t> compaction_stalls;  ///< compact_stall: a thread waited for compaction of memory
  std::optional<std::uint64_t> huge_pages_now;     ///< nr_anon_transparent_hugepages: huge pages mapped now
};

VmEvents parse_vm_events(std::string_view text);
/// All values are absent if /proc/vmstat cannot be read.
VmEvents read_vm_events();

/// Returns the time in nanoseconds, since the machine started, during which at least one thread waited for memory
/// (`some` in /proc/pressure/memory): for reclaim, compaction or a page from swap. Nothing without CONFIG_PSI.
std::optional<std::uint64_t> memory_wait_ns();

}  // namespace zerotax
