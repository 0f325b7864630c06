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

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "os/folder_lock.h"
#include "os/pagemap.h"

namespace zerotax::record {
namespace {

// A process takes 50 to 500 KiB of it: room for hundreds.
constexpr std::uint64_t kFreeBytes = 256 * kMiB;
/// The bytes of a slot before its first table.
constexpr std::size_t kHeadBytes = 4096;  // which need not be a page
static_assert(sizeof(Holdings) + 3 * kPathBytes + 256 <= kHeadBytes);

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

constexpr const char* kPrefix = "zerotax-record-";

}  // namespace

RecordArena::RecordArena() {
  const bool root = ::geteuid() == 0;
  const std::string parent = choose_folder();
  remove_dead_folders(parent, [](const std::string& name, mode_t) { return name.starts_with(kPrefix); });
  folder_ = parent + "/" + kPrefix + "XXXXXX";
  if (::mkdtemp(folder_.data()) == nullptr) cannot(folder_);
  lock_ = lock_folder(folder_);
  path_ = folder_ + "/arena";
  fd_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd_ || (root && (::chmod(folder_.c_str(), 0711) != 0 || ::fchmod(fd_.get(), 0666) != 0)) ||
      ::ftruncate(fd_.get(), static_cast<off_t>(kArenaBytes)) != 0) {
    const int reason = errno;
    remove_locked_folder(folder_);
    errno = reason;
    cannot(path_);
  }
  void* memory = ::mmap(nullptr, kSlotsOffset, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) cannot("a mapping of " + path_);
  arena_ = static_cast<Arena*>(memory);
  arena_->pagemap_method = static_cast<std::uint32_t>(Pagemap().method());
  arena_->magic = kArenaMagic;
}

RecordArena::~RecordArena() {
  for (ProcessSlot* slot : slots_) ::munmap(slot, kSlotBytes);
  if (arena_ != nullptr) ::munmap(arena_, kSlotsOffset);
  remove_locked_folder(folder_);
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

std::size_t RecordArena::slots_used() const { return std::min<std::size_t>(arena_->slots_used, kProcesses); }

const ProcessSlot* RecordArena::watch_slot(std::size_t index) const {
  const auto offset = static_cast<off_t>(kSlotsOffset + index * kSlotBytes);
  void* const memory = ::mmap(nullptr, kHeadBytes, PROT_READ, MAP_SHARED, fd_.get(), offset);
  return memory == MAP_FAILED ? nullptr : static_cast<const ProcessSlot*>(memory);
}

void RecordArena::unwatch(const ProcessSlot* head) { ::munmap(const_cast<ProcessSlot*>(head), kHeadBytes); }

std::vector<const ProcessSlot*> RecordArena::processes() {
  while (slots_.size() < slots_used()) {
    slots_.push_back(static_cast<ProcessSlot*>(copy(kSlotsOffset + slots_.size() * kSlotBytes, kSlotBytes)));
  }
  std::vector<const ProcessSlot*> found;
  for (const ProcessSlot* slot : slots_) {
    if (slot->ready != 0) found.push_back(slot);
  }
  return found;
}

std::vector<const ExecEntry*> RecordArena::execs() const {
  std::vector<const ExecEntry*> found;
  const std::size_t used = std::min<std::size_t>(arena_->execs_used, kExecs);
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

std::vector<const Mark*> RecordArena::marks() const {
  std::vector<const Mark*> found;
  const std::size_t used = std::min<std::size_t>(arena_->marks_used, kMarks);
  for (std::size_t i = 0; i < used; ++i) {
    if (arena_->marks[i].ready != 0) found.push_back(&arena_->marks[i]);
  }
  return found;
}

std::size_t RecordArena::lost_processes() const {
  const std::size_t used = arena_->slots_used;
  return used > kProcesses ? used - kProcesses : 0;
}

}  // namespace zerotax::record
