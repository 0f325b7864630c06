#include "os/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace zerotax {
namespace {

void secure(int fd, int flags) {
  if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) return;
  int opened = ::open("/dev/null", flags);
  // Without a /dev: the root folder takes the number, and can be neither read nor written.
  if (opened < 0) opened = ::open("/", O_RDONLY | O_DIRECTORY);
  if (opened < 0 || opened == fd) return;
  ::dup2(opened, fd);
  ::close(opened);
}

}  // namespace

void secure_standard_streams() {
  secure(STDIN_FILENO, O_RDONLY);
  secure(STDOUT_FILENO, O_RDONLY);
  secure(STDERR_FILENO, O_WRONLY);
}

int flush_standard_output() {
  errno = 0;
  const bool earlier = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !earlier) return 0;
  return errno != 0 ? errno : EIO;
}

}  // namespace zerotax
