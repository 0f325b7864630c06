#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

namespace zerotax {

/// Whether we are in the machine's own PID namespace: in a container's we are not, and PID 1 is a program like any
/// other. Nothing if /proc does not tell. `proc` replaces "/proc" in tests. Source: pid_namespaces(7), and
/// PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h.
std::optional<bool> in_first_pid_namespace(const std::string& proc = "/proc");

/// The inode of our PID namespace, which names it (namespaces(7)); 0 if /proc does not tell. Inline for the library
/// that programs load.
inline std::uint64_t own_pid_namespace() {
  struct stat found {};
  return ::stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

}  // namespace zerotax
