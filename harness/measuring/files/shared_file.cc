#include "files/shared_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "os/machine_trouble.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

namespace zerotax {
namespace {

/// A descriptor above the numbers that shells use (up to 255), and below the limit of select(2), 1024.
constexpr rlim_t kHighNumber = 960;

[[noreturn]] void cannot(const char* call) {
  throw call_trouble(std::string("shared memory is unavailable: ") + call, errno);
}

UniqueFd make_file(const char* name) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  // MFD_NOEXEC_SEAL exists since Linux 6.3, where vm.memfd_noexec may require it.
  UniqueFd fd(::memfd_create(name, kFlags | MFD_NOEXEC_SEAL));
  if (!fd && errno == EINVAL) fd = UniqueFd(::memfd_create(name, kFlags));
  return fd;
}

/// The PID of this process in /proc, which may show another PID namespace.
std::string own_number() {
  std::error_code failure;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self", failure);
  return failure ? std::to_string(::getpid()) : self.string();
}

}  // namespace

SharedFile::SharedFile(const char* name, std::size_t bytes) : fd_(make_file(name)) {
  if (!fd_) cannot("memfd_create");
  if (::fchmod(fd_.get(), S_IRUSR | S_IWUSR) != 0) cannot("fchmod");
  if (bytes == 0) return;
  if (::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) cannot("ftruncate");
  if (::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) cannot("F_ADD_SEALS");
}

std::string SharedFile::text() const {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; text.size() < kMost &&
                        (got = ::pread(fd_.get(), &buffer[0], sizeof buffer, static_cast<off_t>(text.size()))) > 0;) {
    text.append(&buffer[0], static_cast<std::size_t>(got));
  }
  return text;
}

std::string SharedFile::pass_on() {
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const rlim_t highest = limited && limit.rlim_cur > 0 ? limit.rlim_cur - 1 : kHighNumber;
  int fd = ::fcntl(fd_.get(), F_DUPFD, static_cast<int>(std::min(kHighNumber, highest)));
  if (fd < 0) fd = ::fcntl(fd_.get(), F_DUPFD, STDERR_FILENO + 1);
  if (fd < 0) cannot("F_DUPFD");
  fd_ = UniqueFd(fd);
  return fmt::format("/proc/{}/fd/{}", own_number(), fd);
}

}  // namespace zerotax
