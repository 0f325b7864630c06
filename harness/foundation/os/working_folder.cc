#include "os/working_folder.h"

#include <system_error>

#include "base/error.h"

namespace zerotax {

namespace fs = std::filesystem;

void require_working_folder() {
  std::error_code failure;
  if (!fs::current_path(failure).empty()) return;
  throw UsageError("the working folder was deleted", "change to another one, as with cd /");
}

void require_folder_of(const fs::path& path) {
  if (!path.is_absolute()) require_working_folder();
}

fs::path absolute_path(const fs::path& path) {
  require_folder_of(path);
  return fs::absolute(path);
}

}  // namespace zerotax
