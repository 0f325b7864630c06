#include "record/preload/kept_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zerotax::record {
namespace {

constexpr int kHighNumber = 512;

}  // namespace

int KeptFile::get() {
  const int kept = fd_;
  if (kept >= 0) return kept;
  const int opened = ::open(path_, O_RDONLY | O_CLOEXEC);
  if (opened < 0) return -1;
  // If the limit on descriptors is low, the file keeps its low number.
  const int high = ::fcntl(opened, F_DUPFD_CLOEXEC, kHighNumber);
  const int fd = high >= 0 ? high : opened;
  if (high >= 0) ::close(opened);
  struct stat status {};
  if (::fstat(fd, &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
  int none = -1;
  if (fd_.compare_exchange_strong(none, fd)) return fd;
  ::close(fd);
  return none;
}

bool KeptFile::is_ours(int fd) const {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

int KeptFile::check() {
  const int fd = get();
  if (fd < 0 || is_ours(fd)) return fd;
  forget(fd);
  return get();
}

void KeptFile::forget(int fd) { fd_.compare_exchange_strong(fd, -1); }

void KeptFile::drop() {
  const int fd = fd_.exchange(-1);
  if (fd >= 0 && is_ours(fd)) ::close(fd);
}

}  // namespace zerotax::record
