#include "probe/version.h"

#include <cstdio>

namespace zerotax {
namespace {

bool read(const RunningMalloc& running, char* version, std::size_t bytes) {
  void* symbol = find_in_running(running, "largecache_version");
  if (symbol == nullptr) return false;
  std::snprintf(version, bytes, "%s", reinterpret_cast<const char* (*)()>(symbol)());
  return true;
}

const VersionReader reader("largecache", read);

}  // namespace
}  // namespace zerotax
