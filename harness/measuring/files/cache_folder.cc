#include "files/cache_folder.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace zerotax {
namespace {

std::string cache_root() {
  const char* given = std::getenv("XDG_CACHE_HOME");
  // What is not absolute counts as not set.
  if (given != nullptr && given[0] == '/') return given;
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache";
  throw UsageError("there is no folder for a cache: neither XDG_CACHE_HOME nor HOME is set",
                   "set XDG_CACHE_HOME to a folder");
}

}  // namespace

std::string cache_folder(const std::string& name) {
  std::string folder = cache_root() + "/zerotax/" + name;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw UsageError(fmt::format("{} cannot be made: {}", folder, failure.message()),
                     "set XDG_CACHE_HOME to a folder that you can write to");
  }
  return folder;
}

}  // namespace zerotax
