#include "probe/version.h"

#include <cstdio>

namespace zerotax {
namespace {

/// Calls tc_version, declared in gperftools/tcmalloc.h: const char* tc_version(int* major, int* minor, const char**
/// patch).
bool read(const RunningMalloc& running, char* version, std::size_t bytes) {
  void* symbol = find_in_running(running, "tc_version");
  if (symbol == nullptr) return false;
  int major = 0;
  int minor = 0;
  const char* patch = "";
  reinterpret_cast<const char* (*)(int*, int*, const char**)>(symbol)(&major, &minor, &patch);
  std::snprintf(version, bytes, "%d.%d%s", major, minor, patch);
  return true;
}

const VersionReader reader("tcmalloc", read);

}  // namespace
}  // namespace zerotax
