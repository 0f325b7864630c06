#include "record/preload/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace zerotax::record {
namespace {

/// Maximum number of the recorder's own mappings that are remembered: the arena, tables of blocks, and the rings of
/// some threads.
constexpr std::uint32_t kMostOwn = 64;
AddressRange own_ranges[kMostOwn];
constinit std::atomic<std::uint32_t> own_mappings{0};

/// Returns NUMBER of a path /proc/PID/fd/NUMBER, or -1 for any other path.
int number_in(const char* path) {
  constexpr const char* kFolder = "/fd/";
  const char* const folder = std::strncmp(path, "/proc/", 6) == 0 ? std::strstr(path, kFolder) : nullptr;
  if (folder == nullptr) return -1;
  const char* at = folder + std::strlen(kFolder);
  int number = 0;
  for (; *at >= '0' && *at <= '9' && number < 100'000'000; ++at) number = 10 * number + (*at - '0');
  return *at == '\0' && at != folder + std::strlen(kFolder) ? number : -1;
}

/// Whether a descriptor is the recorder's file. A program may have put another file under this number.
bool is_ours(int fd, std::uint64_t magic, std::size_t bytes) {
  struct stat status {};
  std::uint64_t begins = 0;
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) >= bytes &&
         ::pread(fd, &begins, sizeof begins, 0) == sizeof begins && begins == magic;
}

}  // namespace

SharedMemory::SharedMemory(const char* variable, std::uint64_t magic, std::size_t bytes) {
  const char* const path = std::getenv(variable);
  if (path == nullptr) return;
  number_ = number_in(path);
  if (number_ >= 0 && is_ours(number_, magic, bytes)) {
    fd_ = number_;
    return;
  }
  fd_ = ::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd_ < 0 || is_ours(fd_, magic, bytes)) return;
  ::close(fd_);
  fd_ = -1;
}

SharedMemory::~SharedMemory() {
  if (fd_ >= 0 && fd_ != number_) ::close(fd_);
}

void* SharedMemory::map(std::size_t offset, std::size_t bytes) const {
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return nullptr;
  note_own_mapping(memory, bytes);
  return memory;
}

void note_own_mapping(const void* memory, std::size_t bytes) {
  const std::uint32_t place = own_mappings++;
  if (place < kMostOwn) own_ranges[place] = range_of(memory, bytes);
}

bool for_each_own_mapping(void (*visit)(void* context, AddressRange pages), void* context) {
  const std::uint32_t mapped = own_mappings;
  for (std::uint32_t i = 0; i < mapped && i < kMostOwn; ++i) visit(context, own_ranges[i]);
  return mapped <= kMostOwn;
}

void SharedMemory::keep() {
  if (fd_ < 0 || number_ < 0 || fd_ == number_ || ::fcntl(number_, F_GETFD) != -1) return;
  const int kept = ::fcntl(fd_, F_DUPFD, number_);
  if (kept >= 0 && kept != number_) ::close(kept);
}

}  // namespace zerotax::record
