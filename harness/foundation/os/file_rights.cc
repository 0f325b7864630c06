#include "os/file_rights.h"

#include <fmt/format.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace zerotax {
namespace {

/// Sets the groups of this thread alone; the C library's function would set those of all threads.
bool set_groups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

/// Whether this process allowed core dumps and debuggers before we first changed the user. A change of the user forbids
/// both (prctl(2), PR_SET_DUMPABLE).
bool could_be_dumped() {
  static const bool could = ::prctl(PR_GET_DUMPABLE) == 1;
  return could;
}

}  // namespace

std::optional<FileUser> file_user(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  std::optional<uid_t> user;
  std::optional<gid_t> group;
  // Each line has four numbers: real, effective, saved, and file system.
  const auto last = [](const std::string& line, auto& number) {
    std::istringstream words(line.substr(4));
    unsigned each = 0;
    for (int i = 0; i < 4 && words >> each; ++i) number = i == 3 ? std::optional(each) : std::nullopt;
  };
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Uid:")) last(line, user);
    if (line.starts_with("Gid:")) last(line, group);
  }
  if (!user || !group) return std::nullopt;
  return FileUser{*user, *group};
}

FileRights::FileRights(const FileUser& user) {
  if (::geteuid() != 0 || user.user == 0) return;
  const int count = ::getgroups(0, nullptr);
  groups_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  limited_ = count >= 0 && ::getgroups(count, groups_.data()) == count && set_groups({});
  if (!limited_) return;
  changed_ = true;
  could_be_dumped();
  group_ = static_cast<gid_t>(::setfsgid(user.group));
  // With the change of user, the kernel takes root's rights over files from the thread (capabilities(7)).
  ::setfsuid(user.user);
  constexpr auto kNobody = static_cast<uid_t>(-1);  // changes nothing, and returns the current user
  limited_ =
      static_cast<gid_t>(::setfsgid(kNobody)) == user.group && static_cast<uid_t>(::setfsuid(kNobody)) == user.user;
}

FileRights::~FileRights() {
  if (!changed_) return;
  ::setfsuid(0);
  ::setfsgid(group_);
  static_cast<void>(set_groups(groups_));
  if (could_be_dumped()) ::prctl(PR_SET_DUMPABLE, 1);
}

}  // namespace zerotax
