#include "snapshot/process/write_protection.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace snapshot {
namespace {

constexpr int kUserModeOnly = 1;  // UFFD_USER_MODE_ONLY, include/uapi/linux/userfaultfd.h
constexpr int kWaitMs = 5;

[[noreturn]] void fail(const char* what) { throw std::runtime_error(std::string(what) + ": " + std::strerror(errno)); }

}  // namespace

WriteProtection::WriteProtection()
    : fd_(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly))) {
  if (!fd_) {
    why_not_ = std::string("userfaultfd is not permitted or not in this kernel: ") + std::strerror(errno);
    return;
  }
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP;
  if (::ioctl(fd_.get(), UFFDIO_API, &api) != 0) {
    why_not_ = "this kernel's userfaultfd has no write protection (Linux 5.7)";
    fd_.reset();
  }
}

void WriteProtection::protect(zerotax::AddressRange range) {
  uffdio_register registration{};
  registration.range = {range.begin, range.bytes()};
  registration.mode = UFFDIO_REGISTER_MODE_WP;
  if (::ioctl(fd_.get(), UFFDIO_REGISTER, &registration) != 0) fail("UFFDIO_REGISTER");
  uffdio_writeprotect protection{};
  protection.range = {range.begin, range.bytes()};
  protection.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  if (::ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &protection) != 0) fail("UFFDIO_WRITEPROTECT");
}

void WriteProtection::release(zerotax::AddressRange range) const {
  uffdio_writeprotect protection{};
  protection.range = {range.begin, range.bytes()};
  // EAGAIN: the mappings of the process are changing just now (a fork, say).
  while (::ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &protection) != 0) {
    if (errno != EAGAIN) fail("UFFDIO_WRITEPROTECT");
  }
}

std::optional<std::uintptr_t> WriteProtection::next_write() const {
  uffd_msg message{};
  const ssize_t got = ::read(fd_.get(), &message, sizeof message);
  if (got == static_cast<ssize_t>(sizeof message)) {
    if (message.event != UFFD_EVENT_PAGEFAULT) return {};
    return static_cast<std::uintptr_t>(message.arg.pagefault.address);
  }
  pollfd wait{fd_.get(), POLLIN, 0};
  ::poll(&wait, 1, kWaitMs);
  return {};
}

}  // namespace snapshot
