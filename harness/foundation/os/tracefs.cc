#include "os/tracefs.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

namespace zerotax {

Tracefs::Tracefs() {
  const UniqueFd context(::fsopen("tracefs", FSOPEN_CLOEXEC));
  if (context && ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0) {
    root_ = UniqueFd(::fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
  }
  if (!root_) error_ = errno;
}

std::string Tracefs::read(const std::string& path) const {
  if (!root_) return "";
  const UniqueFd file(::openat(root_.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return "";
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(file.get(), &part[0], sizeof part)) > 0;) {
    text.append(&part[0], static_cast<std::size_t>(got));
  }
  return text;
}

int Tracefs::add(const std::string& path, const std::string& line) const {
  if (!root_) return error_;
  // Without O_APPEND, the definitions of other programs would be deleted.
  const UniqueFd file(::openat(root_.get(), path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file) return errno;
  const std::string text = line + "\n";
  return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

}  // namespace zerotax
