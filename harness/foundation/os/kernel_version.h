#pragma once

namespace zerotax {

/// Whether the running kernel has this version or a later one, by uname(2). Returns true if the version is unknown.
bool kernel_is_at_least(int major, int minor);

/// Returns why the kernel refuses a facility that came with a kernel version: `lacks` on an older kernel, else
/// `denied`. `denied` should name a seccomp filter, the limits of a container, or the kernel's build.
inline const char* why_refused(int major, int minor, const char* lacks, const char* denied) {
  return kernel_is_at_least(major, minor) ? denied : lacks;
}

}  // namespace zerotax
