#include "record/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "os/pagemap.h"
#include "record/slot_check.h"

namespace zerotax::record {
namespace {

/// The bytes of a slot before its first table.
constexpr std::size_t kHeadBytes = 4096;  // which need not be a page
static_assert(sizeof(Holdings) + 3 * kPathBytes + 256 <= kHeadBytes);

/// A short process takes 64 KiB: the limit allows one such process per slot.
constexpr std::uint64_t kMostCopied = kProcesses * (std::uint64_t{64} << 10);

[[noreturn]] void cannot(const char* what) {
  throw MachineError(fmt::format("cannot make {}: {}", what, std::strerror(errno)), "check ulimit -v");
}

}  // namespace

RecordArena::RecordArena() : file_("zerotax-arena", kArenaBytes), path_(file_.pass_on()) {
  void* memory = ::mmap(nullptr, kSlotsOffset, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), 0);
  if (memory == MAP_FAILED) cannot("a mapping of the recording's memory");
  arena_ = static_cast<Arena*>(memory);
  arena_->pagemap_method = static_cast<std::uint32_t>(Pagemap().method());
  arena_->magic = kArenaMagic;
}

RecordArena::~RecordArena() {
  for (ProcessSlot* slot : slots_) {
    if (slot != nullptr) ::munmap(slot, kSlotBytes);
  }
  if (head_ != nullptr) ::munmap(head_, kSlotsOffset);
  ::munmap(arena_, kSlotsOffset);
}

void* RecordArena::copy(std::size_t offset, std::size_t bytes) {
  constexpr const char* kWhat = "a copy of the recording's memory";
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) cannot(kWhat);
  // Only what was written: a slot is mostly a hole, and reading a shared mapping would fill it with pages.
  const auto begin = static_cast<off_t>(offset);
  const off_t end = begin + static_cast<off_t>(bytes);
  for (off_t data = ::lseek(file_.fd(), begin, SEEK_DATA); data >= 0 && data < end;) {
    const off_t hole = std::min(::lseek(file_.fd(), data, SEEK_HOLE), end);
    while (data < hole) {
      const ssize_t got =
          ::pread(file_.fd(), static_cast<char*>(memory) + (data - begin), static_cast<std::size_t>(hole - data), data);
      if (got <= 0) cannot(kWhat);
      data += got;
      copied_bytes_ += static_cast<std::uint64_t>(got);
    }
    data = ::lseek(file_.fd(), data, SEEK_DATA);
  }
  return memory;
}

std::size_t RecordArena::slots_used() const { return std::min<std::size_t>(arena_->slots_used, kProcesses); }

const ProcessSlot* RecordArena::watch_slot(std::size_t index) const {
  const auto offset = static_cast<off_t>(kSlotsOffset + index * kSlotBytes);
  std::uint32_t ready = 0;  // the first member of a slot
  // Reading a hole through a mapping would allocate a page for it.
  if (::pread(file_.fd(), &ready, sizeof ready, offset) != sizeof ready || ready == 0) return nullptr;
  void* const memory = ::mmap(nullptr, kHeadBytes, PROT_READ, MAP_SHARED, file_.fd(), offset);
  return memory == MAP_FAILED ? nullptr : static_cast<const ProcessSlot*>(memory);
}

void RecordArena::unwatch(const ProcessSlot* head) { ::munmap(const_cast<ProcessSlot*>(head), kHeadBytes); }

void RecordArena::copy_head() {
  if (head_ != nullptr) ::munmap(head_, kSlotsOffset);
  head_ = nullptr;
  const std::uint64_t before = copied_bytes_;
  head_ = static_cast<Arena*>(copy(0, kSlotsOffset));
  copied_bytes_ = before;
  for (ExecEntry& entry : head_->execs) {
    if (entry.ready != 0) end_text(entry.path);
  }
}

std::vector<const ProcessSlot*> RecordArena::processes() {
  copy_head();
  while (slots_.size() < slots_used()) {
    if (copied_bytes_ > kMostCopied) {
      unread_ = slots_used() - slots_.size();
      break;
    }
    auto* const slot = static_cast<ProcessSlot*>(copy(kSlotsOffset + slots_.size() * kSlotBytes, kSlotBytes));
    slots_.push_back(slot);
    if (slot->ready == 0 || is_whole(*slot)) continue;
    damaged_.push_back({slot->pid, &slot->executable[0]});
    slot->ready = 0;
  }
  std::vector<const ProcessSlot*> found;
  for (const ProcessSlot* slot : slots_) {
    if (slot->ready != 0) found.push_back(slot);
  }
  return found;
}

std::vector<const ExecEntry*> RecordArena::entries() const {
  std::vector<const ExecEntry*> found;
  if (head_ == nullptr) return found;
  const std::size_t used = std::min<std::size_t>(head_->execs_used, kExecs);
  for (std::size_t i = 0; i < used; ++i) {
    if (head_->execs[i].ready != 0) found.push_back(&head_->execs[i]);
  }
  return found;
}

std::vector<const ExecEntry*> RecordArena::execs() const {
  std::vector<const ExecEntry*> found = entries();
  std::erase_if(found, [](const ExecEntry* entry) { return entry->ended != 0; });
  return found;
}

std::uint64_t RecordArena::used_bytes() const {
  struct stat status {};
  constexpr std::uint64_t kStatBlock = 512;  // stat(2), st_blocks
  return ::fstat(file_.fd(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * kStatBlock : 0;
}

std::vector<const Mark*> RecordArena::marks() {
  copy_head();
  std::vector<const Mark*> found;
  const std::size_t used = std::min<std::size_t>(head_->marks_used, kMarks);
  for (std::size_t i = 0; i < used; ++i) {
    if (head_->marks[i].ready != 0 && is_time(head_->marks[i].ns)) found.push_back(&head_->marks[i]);
  }
  return found;
}

std::size_t RecordArena::lost_processes() const {
  const std::size_t used = arena_->slots_used;
  return unread_ + (used > kProcesses ? used - kProcesses : 0);
}

}  // namespace zerotax::record
