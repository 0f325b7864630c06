#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zerotax {

/// Whether this process is in the machine's first PID namespace. In a container's namespace, PID 1 is a program like
/// any other. Returns nothing if /proc does not show the namespace. `proc` replaces "/proc" in tests. Source:
/// pid_namespaces(7), and PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h.
inline std::optional<bool> in_first_pid_namespace(const std::string& proc = "/proc") {
  std::array<char, 64> text{};
  const ssize_t length = ::readlink((proc + "/self/ns/pid").c_str(), text.data(), text.size());
  if (length <= 0) return std::nullopt;
  return std::string_view(text.data(), static_cast<std::size_t>(length)) == "pid:[4026531836]";
}

/// Returns the inode of our PID namespace, or 0 if /proc does not show the inode. The inode identifies the namespace
/// (namespaces(7)). Also runs in a recorded program, without the C++ runtime.
inline std::uint64_t own_pid_namespace() {
  struct stat found {};
  return ::stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

}  // namespace zerotax
