#include "files/shared_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "os/machine_trouble.h"

namespace zerotax {

SharedFile::SharedFile(const char* name, std::size_t bytes) : fd_(::memfd_create(name, MFD_CLOEXEC)) {
  if (!fd_) throw call_trouble("shared memory for a probe is unavailable: memfd_create", errno);
  if (::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
    throw call_trouble("shared memory for a probe is unavailable: ftruncate", errno);
  }
}

std::string SharedFile::text() const {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::pread(fd_.get(), &buffer[0], sizeof buffer, static_cast<off_t>(text.size()))) > 0;) {
    text.append(&buffer[0], static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace zerotax
