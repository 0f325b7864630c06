#include "probe/version.h"

#include <cstdio>
#include <cstring>

namespace zerotax {
namespace {

using Mallctl = int (*)(const char*, void*, std::size_t*, void*, std::size_t);

/// Reads the release from "version" (jemalloc(3)): the part before the first dash, such as 5.3.0 in
/// "5.3.0-0-g54eaed1d…".
bool read(const RunningMalloc& running, char* version, std::size_t bytes) {
  void* symbol = find_in_running(running, "mallctl");
  if (symbol == nullptr) return false;
  const char* text = nullptr;
  std::size_t length = sizeof text;
  if (reinterpret_cast<Mallctl>(symbol)("version", &text, &length, nullptr, 0) != 0) return false;
  std::snprintf(version, bytes, "%.*s", static_cast<int>(std::strcspn(text, "-")), text);
  return true;
}

const VersionReader reader("jemalloc", read);

}  // namespace
}  // namespace zerotax
