#include "files/folders.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "os/file_lock.h"
#include "os/machine_trouble.h"

namespace zerotax {
namespace {

std::string cache_root() {
  const char* given = std::getenv("XDG_CACHE_HOME");
  // A relative path counts as unset.
  if (given != nullptr && given[0] == '/') return given;
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache";
  throw UsageError("neither XDG_CACHE_HOME nor HOME names a folder for a cache", "set XDG_CACHE_HOME to a folder");
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

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "zerotax-";
constexpr std::string_view kUnique = "-XXXXXX";  // the pattern of mkdtemp(3)

std::string temporary_folder() {
  std::error_code failure;
  const fs::path folder = fs::temp_directory_path(failure);
  return failure ? "/tmp" : folder.string();
}

bool is_unique_name(std::string_view name) {
  if (!name.starts_with(kPrefix) || name.size() < kPrefix.size() + kUnique.size()) return false;
  const std::string_view end = name.substr(name.size() - kUnique.size());
  return end.front() == '-' &&
         std::all_of(end.begin() + 1, end.end(), [](unsigned char each) { return std::isalnum(each) != 0; });
}

}  // namespace

void remove_dead_temporary_folders(const std::string& parent) {
  remove_dead_folders(parent, [](const std::string& name, mode_t permissions) {
    return is_unique_name(name) && permissions == S_IRWXU;
  });
}

TemporaryFolder::TemporaryFolder(const std::string& what) : TemporaryFolder(what, temporary_folder()) {
  [[maybe_unused]] static const bool swept = (remove_dead_temporary_folders(temporary_folder()), true);
}

TemporaryFolder::TemporaryFolder(const std::string& what, const std::string& parent) {
  path_ = fs::path(parent) / std::string(kPrefix).append(what).append(kUnique);
  if (::mkdtemp(path_.data()) == nullptr) {
    throw MachineError(fmt::format("{} cannot be created: {}", path_, std::strerror(errno)),
                       "point TMPDIR at a writable folder");
  }
  lock_ = lock_folder(path_);
  if (lock_ || (errno != EMFILE && errno != ENFILE)) return;
  // Without a lock, no later process would remove the folder after a kill.
  const int reason = errno;
  ::rmdir(path_.c_str());
  throw call_trouble(path_ + " cannot be locked", reason);
}

TemporaryFolder::~TemporaryFolder() { remove_locked_folder(path_); }

}  // namespace zerotax
