#include "record/arena.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "os/pagemap.h"

namespace zerotax::record {
namespace {

// A process takes 50 to 500 KiB of it: room for hundreds.
constexpr std::uint64_t kFreeBytes = 256 * kMiB;

bool has_room(const std::string& folder) {
  struct statvfs status {};
  return ::access(folder.c_str(), W_OK | X_OK) == 0 && ::statvfs(folder.c_str(), &status) == 0 &&
         std::uint64_t{status.f_bavail} * status.f_frsize >= kFreeBytes;
}

std::string choose_folder() {
  const char* temporary = std::getenv("TMPDIR");
  for (const char* folder : {"/dev/shm", temporary, "/tmp", "/var/tmp"}) {
    if (folder != nullptr && has_room(folder)) return folder;
  }
  throw MachineError("no folder has room for the recording",
                     fmt::format("free {} in /dev/shm or /tmp, or point TMPDIR at a folder", format_size(kFreeBytes)));
}

[[noreturn]] void cannot(const std::string& what) {
  const int reason = errno;
  throw MachineError(fmt::format("cannot make {}: {}", what, std::strerror(reason)),
                     "point TMPDIR at a folder that you may write to; check ulimit -f and -v");
}

}  // namespace

RecordArena::RecordArena() {
  const bool root = ::geteuid() == 0;
  folder_ = choose_folder() + "/zerotax-record-XXXXXX";
  if (::mkdtemp(folder_.data()) == nullptr) cannot(folder_);
  path_ = folder_ + "/arena";
  fd_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd_ || (root && (::chmod(folder_.c_str(), 0711) != 0 || ::fchmod(fd_.get(), 0666) != 0)) ||
      ::ftruncate(fd_.get(), static_cast<off_t>(record::kArenaBytes)) != 0) {
    const int reason = errno;
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
    errno = reason;
    cannot(path_);
  }
  void* memory = ::mmap(nullptr, record::kSlotsOffset, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) cannot("a mapping of " + path_);
  arena_ = static_cast<record::Arena*>(memory);
  arena_->pagemap_method = static_cast<std::uint32_t>(Pagemap().method());
  arena_->magic = record::kArenaMagic;
}

RecordArena::~RecordArena() {
  for (record::ProcessSlot* slot : slots_) ::munmap(slot, record::kSlotBytes);
  if (arena_ != nullptr) ::munmap(arena_, record::kSlotsOffset);
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

void* RecordArena::copy(std::size_t offset, std::size_t bytes) const {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) cannot("a copy of " + path_);
  // Only what was written: a slot is mostly a hole, and reading a shared mapping would fill it with pages.
  const auto begin = static_cast<off_t>(offset);
  const off_t end = begin + static_cast<off_t>(bytes);
  for (off_t data = ::lseek(fd_.get(), begin, SEEK_DATA); data >= 0 && data < end;) {
    const off_t hole = std::min(::lseek(fd_.get(), data, SEEK_HOLE), end);
    while (data < hole) {
      const ssize_t got =
          ::pread(fd_.get(), static_cast<char*>(memory) + (data - begin), static_cast<std::size_t>(hole - data), data);
      if (got <= 0) cannot("a copy of " + path_);
      data += got;
    }
    data = ::lseek(fd_.get(), data, SEEK_DATA);
  }
  return memory;
}

std::vector<const record::ProcessSlot*> RecordArena::processes() {
  const std::size_t used = std::min<std::size_t>(arena_->slots_used, record::kProcesses);
  while (slots_.size() < used) {
    slots_.push_back(static_cast<record::ProcessSlot*>(
        copy(record::kSlotsOffset + slots_.size() * record::kSlotBytes, record::kSlotBytes)));
  }
  std::vector<const record::ProcessSlot*> found;
  for (const record::ProcessSlot* slot : slots_) {
    if (slot->ready != 0) found.push_back(slot);
  }
  return found;
}

std::vector<const record::ExecEntry*> RecordArena::execs() const {
  std::vector<const record::ExecEntry*> found;
  const std::size_t used = std::min<std::size_t>(arena_->execs_used, record::kExecs);
  for (std::size_t i = 0; i < used; ++i) {
    if (arena_->execs[i].ready != 0) found.push_back(&arena_->execs[i]);
  }
  return found;
}

std::uint64_t RecordArena::used_bytes() const {
  struct stat status {};
  constexpr std::uint64_t kStatBlock = 512;  // stat(2), st_blocks
  return ::fstat(fd_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * kStatBlock : 0;
}

std::size_t RecordArena::lost_processes() const {
  const std::size_t used = arena_->slots_used;
  return used > record::kProcesses ? used - record::kProcesses : 0;
}

}  // namespace zerotax::record
