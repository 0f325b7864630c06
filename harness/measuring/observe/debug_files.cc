#include "observe/debug_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/names.h"
#include "os/elf_file.h"
#include "os/process_file.h"
#include "os/regular_file.h"

namespace zerotax {
namespace {

constexpr const char* kSystem = "/usr/lib/debug";

struct Wanted {
  std::string build_id;  ///< build-id in hexadecimal; empty if there is none
  FileId file;           ///< the program file, which is never accepted as its own debug file
  std::uint64_t skip;    ///< number of candidates still to skip
};

/// Returns whether a file is the candidate to return. An earlier candidate lowers `wanted.skip` by one.
bool is_next(int file, Wanted& wanted) {
  return file_id(file) != wanted.file && is_elf_file(file) && wanted.skip-- == 0;
}

/// Opens a file below /usr/lib/debug that belongs to root.
UniqueFd open_of_system(const std::string& path, Wanted& wanted) {
  const UniqueFd root(::open(kSystem, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  UniqueFd found = open_regular_file(root.get(), path, Links::kInsideRoot, kMostProgramBytes).fd;
  struct stat status {};
  const bool trusted = found && ::fstat(found.get(), &status) == 0 && status.st_uid == 0;
  return trusted && is_next(found.get(), wanted) ? std::move(found) : UniqueFd();
}

UniqueFd open_by_build_id(Wanted& wanted) {
  if (wanted.build_id.size() < 4) return {};
  const std::string path =
      fmt::format(".build-id/{}/{}.debug", wanted.build_id.substr(0, 2), wanted.build_id.substr(2));
  return open_of_system(path, wanted);
}

/// Searches /usr/lib/debug for each suffix of a folder's path: "/usr/lib", "/lib" and "" for "/usr/lib". A package may
/// store its debug files under the path with or without /usr.
UniqueFd open_by_folder(const std::string& folder, const std::string& name, Wanted& wanted) {
  for (std::size_t begin = 0; begin != std::string::npos; begin = folder.find('/', begin + 1)) {
    if (UniqueFd found = open_of_system(folder.substr(begin) + "/" + name, wanted)) return found;
  }
  return open_of_system(name, wanted);
}

/// Returns the user with whose rights the file's folder is opened: the process's user or, without a known process, the
/// file's owner.
std::optional<FileUser> user_of(const FileOrigin& origin, const UniqueFd& root) {
  if (origin.pid > 0) {
    if (const auto user = file_user(origin.pid)) return user;
  }
  struct stat status {};
  const std::string below = origin.name.substr(std::min<std::size_t>(1, origin.name.size()));
  if (::fstatat(root.get(), below.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return FileUser{status.st_uid, status.st_gid};
}

UniqueFd open_beside(const FileOrigin& origin, const std::string& folder, const std::string& name, Wanted& wanted) {
  for (const UniqueFd& root : root_folders(origin.pid)) {
    const auto user = user_of(origin, root);
    if (!user) continue;
    const FileRights rights(*user);
    // If the program's path now refers to another file, the debug files beside that file do not match the program.
    if (!rights || file_id(root.get(), origin.name) != origin.id) continue;
    for (const char* below : {"/", "/.debug/"}) {
      const std::string path = fmt::format("{}{}{}", folder, below, name);
      UniqueFd found = open_regular_file(root.get(), path, Links::kInsideRoot, kMostProgramBytes).fd;
      if (found && is_next(found.get(), wanted)) return found;
    }
  }
  return {};
}

UniqueFd shared_debug_file(const std::string& link, Wanted& wanted) {
  const std::size_t below = link.find(".dwz/");
  return below != std::string::npos ? open_of_system(link.substr(below), wanted) : UniqueFd();
}

UniqueFd own_debug_file(const FileOrigin& origin, const std::string& link, Wanted& wanted) {
  const std::string name = !link.empty() ? link : file_name(origin.name) + ".debug";
  const std::string folder = origin.name.substr(0, origin.name.size() - file_name(origin.name).size());
  // Rejects a name with a slash, because a path could lead to any folder.
  if (name.empty() || name.find('/') != std::string::npos || !folder.starts_with('/')) return {};
  if (UniqueFd found = open_beside(origin, folder, name, wanted)) return found;
  return open_by_folder(folder.substr(0, folder.size() - 1), name, wanted);
}

}  // namespace

UniqueFd open_debug_file(const FileOrigin& origin, const DebugFile& debug, std::uint64_t skip) {
  Wanted wanted{debug.build_id, origin.id, skip};
  if (UniqueFd found = open_by_build_id(wanted)) return found;
  return debug.shared ? shared_debug_file(debug.link, wanted) : own_debug_file(origin, debug.link, wanted);
}

}  // namespace zerotax
