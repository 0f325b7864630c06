#pragma once

#include <sys/utsname.h>

namespace zerotax {

/// Whether the running kernel has this version or a later one, by uname(2). Returns true if the version is unknown.
/// Also runs in a recorded program, without the C++ runtime.
inline bool kernel_is_at_least(int major, int minor) {
  utsname system{};
  if (::uname(&system) != 0) return true;
  const char* text = &system.release[0];
  const auto next_number = [&text] {
    int value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) value = 10 * value + (*text - '0');
    return value;
  };
  const int own_major = next_number();
  if (own_major == 0 || *text != '.') return true;
  ++text;
  const int own_minor = next_number();
  return own_major > major || (own_major == major && own_minor >= minor);
}

/// Returns why the kernel refuses a facility that came with a kernel version: `lacks` on an older kernel, else
/// `denied`. `denied` should name a seccomp filter, the limits of a container, or the kernel's build.
inline const char* why_refused(int major, int minor, const char* lacks, const char* denied) {
  return kernel_is_at_least(major, minor) ? denied : lacks;
}

}  // namespace zerotax
