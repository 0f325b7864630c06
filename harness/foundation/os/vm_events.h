#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace zerotax {

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
