#include "core/temporary_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace zerotax {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& what) {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  path_ = (failure ? fs::path("/tmp") : parent) / ("zerotax-" + what + "-XXXXXX");
  if (::mkdtemp(path_.data()) == nullptr) {
    throw MachineError(fmt::format("{} cannot be created: {}", path_, std::strerror(errno)),
                       "point TMPDIR at a writable folder");
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace zerotax
