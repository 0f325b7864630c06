#include "os/process_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <optional>

#include "os/kernel_version.h"
#include "os/process_info.h"
#include "os/regular_file.h"

namespace zerotax {
namespace {

/// Defined in linux/magic.h. Before Linux 6.18, events have the inode of the lower layer ("perf/core: Fix MMAP2 event
/// device with backing files"). That inode differs from the inode of the name if the layers are on several file
/// systems.
constexpr auto kOverlay = 0x794c7630;
/// On btrfs, fstat(2) returns the device of a subvolume, while the kernel's other interfaces return the device of the
/// file system.
constexpr auto kBtrfs = 0x9123683e;
/// Maximum number of open files, because root sees the files of every container on the machine.
constexpr std::size_t kMostOpen = 256;
constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;

bool is_of(int opened, const MappedProcessFile& file) {
  struct stat status {};
  struct statfs system {};
  if (::fstat(opened, &status) != 0 || ::fstatfs(opened, &system) != 0) return false;
  const bool overlay = system.f_type == kOverlay;
  const bool inode = file.inode == 0 || status.st_ino == file.inode || (overlay && !kernel_is_at_least(6, 18));
  const bool device = file.device == 0 || status.st_dev == file.device || overlay || system.f_type == kBtrfs;
  return inode && device;
}

}  // namespace

std::vector<UniqueFd> root_folders(pid_t pid) {
  std::vector<UniqueFd> roots;
  if (pid > 0) {
    UniqueFd own(::open(fmt::format("/proc/{}/root", living_thread(pid)).c_str(), kFolder));
    if (own) roots.push_back(std::move(own));
  }
  UniqueFd ours(::open("/", kFolder));
  if (ours) roots.push_back(std::move(ours));
  return roots;
}

UniqueFd open_mapped_file(pid_t pid, const MappedProcessFile& file) {
  UniqueFd itself =
      open_program_file(fmt::format("/proc/{}/map_files/{:x}-{:x}", living_thread(pid), file.begin, file.end));
  if (itself && is_of(itself.get(), file)) return itself;
  const std::optional<FileUser> user = file_user(pid);
  const std::vector<UniqueFd> roots = root_folders(pid);
  std::optional<FileRights> rights;
  if (user) rights.emplace(*user);
  if (rights && !*rights) return {};
  for (const UniqueFd& root : roots) {
    // Paths from the kernel contain no links.
    UniqueFd found = open_regular_file(root.get(), file.name, Links::kNone, kMostProgramBytes).fd;
    if (found && is_of(found.get(), file)) return found;
  }
  return {};
}

std::string ProcessFiles::find(pid_t pid, const MappedProcessFile& file) {
  UniqueFd opened = open_mapped_file(pid, file);
  if (!opened) return "";
  const FileId id = file_id(opened.get());
  auto found = open_.find(id);
  if (found == open_.end()) {
    if (open_.size() >= kMostOpen) return "";
    found = open_.emplace(id, std::move(opened)).first;
  }
  return fmt::format("/proc/self/fd/{}", found->second.get());
}

}  // namespace zerotax
