#include "probe/version.h"

#include <cstdio>
#include <cstring>

namespace zerotax {
namespace {

/// Reads the version from the path of the running library, which contains clang's folder
/// (…/lib/clang/14.0.6/lib/linux/…): scudo itself has no version. A library elsewhere has no version.
bool read(const RunningMalloc& running, char* version, std::size_t bytes) {
  if (find_in_running(running, "__scudo_print_stats") == nullptr) return false;
  const char* folder = std::strstr(running.path, "/lib/clang/");
  if (folder == nullptr) return true;
  folder += std::strlen("/lib/clang/");
  std::snprintf(version, bytes, "%.*s", static_cast<int>(std::strcspn(folder, "/")), folder);
  return true;
}

const VersionReader reader("scudo", read);

}  // namespace
}  // namespace zerotax
