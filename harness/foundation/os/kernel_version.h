#pragma once

namespace zerotax {

/// Whether the running kernel is of this version or later, by uname(2). True if the kernel does not say.
bool kernel_is_at_least(int major, int minor);

/// Why a facility that came with a version of the kernel refused: `lacks` for an older kernel, else `denied`, for then
/// a seccomp filter, the limits of a container or the build of the kernel is the cause.
inline const char* why_refused(int major, int minor, const char* lacks, const char* denied) {
  return kernel_is_at_least(major, minor) ? denied : lacks;
}

}  // namespace zerotax
