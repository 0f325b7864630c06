#include "probe/version.h"

#include <gnu/libc-version.h>

#include <cstdio>
#include <cstring>

namespace zerotax {
namespace {

bool read(const RunningMalloc& running, char* version, std::size_t bytes) {
  if (std::strstr(running.path, "/libc.so") == nullptr) return false;
  std::snprintf(version, bytes, "%s", ::gnu_get_libc_version());
  return true;
}

const VersionReader reader("glibc", read);

}  // namespace
}  // namespace zerotax
