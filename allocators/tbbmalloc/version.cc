#include "probe/version.h"

namespace zerotax {
namespace {

/// Reads the version from the library's image, because tbbmalloc exports no version. The image contains the text that
/// TBB_VERSION=1 prints.
bool read(const RunningMalloc& running, char* version, std::size_t bytes) {
  if (find_in_running(running, "__TBB_malloc_proxy") == nullptr) return false;
  find_in_image("libtbbmalloc.so", "TBBmalloc: VERSION", version, bytes);
  return true;
}

const VersionReader reader("tbbmalloc", read);

}  // namespace
}  // namespace zerotax
