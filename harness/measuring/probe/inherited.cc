#include "probe/inherited.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "meter/probe_exit.h"

namespace zerotax {
namespace {

/// Whether a file has no name, like the driver's files. If the allocator has reused the number for its own file, that
/// file has a name.
bool is_nameless(int fd, std::size_t bytes) {
  struct stat file {};
  return ::fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink == 0 &&
         file.st_size >= static_cast<off_t>(bytes);
}

}  // namespace

int inherited_file(int fd, std::size_t bytes) {
  if (is_nameless(fd, bytes)) return fd;
  char path[64];
  std::snprintf(&path[0], sizeof path, "/proc/%d/fd/%d", ::getppid(), fd);
  const int again = ::open(&path[0], O_RDWR | O_CLOEXEC);
  return again >= 0 && is_nameless(again, bytes) ? again : -1;
}

void probe_say(const char* what, int error) {
  char line[256];
  const int length = std::snprintf(&line[0], sizeof line, "%s%s%s%s\n", &kProbeSays[0], what, error != 0 ? ": " : "",
                                   error != 0 ? std::strerror(error) : "");
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, &line[0], static_cast<std::size_t>(length));
}

}  // namespace zerotax
