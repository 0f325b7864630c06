#include "probe/version.h"

#include <cstdio>

namespace zerotax {
namespace {

/// Reads mi_version() (MI_MALLOC_VERSION in mimalloc.h). mi_version() is 209 for 2.0.9; from 2.2.5 on, each part has
/// two digits: 20205 for 2.2.5.
bool read(const RunningMalloc& running, char* version, std::size_t bytes) {
  void* symbol = find_in_running(running, "mi_version");
  if (symbol == nullptr) return false;
  const int number = reinterpret_cast<int (*)()>(symbol)();
  if (number < 1000) {
    std::snprintf(version, bytes, "%d.%d.%d", number / 100, number / 10 % 10, number % 10);
  } else {
    std::snprintf(version, bytes, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
  }
  return true;
}

const VersionReader reader("mimalloc", read);

}  // namespace
}  // namespace zerotax
