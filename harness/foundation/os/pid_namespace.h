#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

namespace zerotax {

/// Whether this process is in the machine's first PID namespace. In a container's namespace, PID 1 is a program like
/// any other. Returns nothing if /proc does not show the namespace. `proc` replaces "/proc" in tests. Source:
/// pid_namespaces(7), and PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h.
std::optional<bool> in_first_pid_namespace(const std::string& proc = "/proc");

/// Returns the inode of our PID namespace, or 0 if /proc does not show the inode. The inode identifies the namespace
/// (namespaces(7)). Inline for the library that programs load.
inline std::uint64_t own_pid_namespace() {
  struct stat found {};
  return ::stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

}  // namespace zerotax
