#include "ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "lock.h"
#include "page.h"
#include "process.h"
#include "say.h"

namespace zerotax::recorder {
namespace {

constexpr std::uint64_t kSlotUnit = 4096;  // unit of slot sizes, independent of the page size
constexpr std::uint64_t kMostSlots = 32;
constexpr std::uint64_t kNestedSlots = 4;
constexpr std::uint64_t kNestedSlotBytes = 4 * kSlotUnit;

/// The path of a buffer's file. Objects of this type are static, because a handler's stack may be small.
struct Path {
  char text[PATH_MAX];
  const char* set(std::uint64_t number) {
    std::snprintf(text, sizeof text, "%.4000s/%s%llu", process.folder, kRingPrefix,
                  static_cast<unsigned long long>(number));
    return text;
  }
};

/// Populates every page of the mapping, so that recording never needs a new block on a full disk. Returns 0 or errno.
int populate(void* memory, std::size_t bytes) {
  if (::madvise(memory, bytes, MADV_POPULATE_WRITE) == 0) return 0;
  if (errno != EINVAL) return errno == EFAULT ? ENOSPC : errno;
  // Before Linux 5.14, touches each page. posix_fallocate has already allocated the blocks.
  const std::size_t page = page_bytes();
  for (std::size_t at = 0; at < bytes; at += page) static_cast<volatile char*>(memory)[at] = 0;
  return 0;
}

/// Returns the mapped file, filled with zeros, or nullptr with errno set.
void* map_file(const char* path, std::size_t bytes) {
  const int file = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return nullptr;
  int failure = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* memory = MAP_FAILED;
  if (failure == 0) {
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    failure = memory == MAP_FAILED ? errno : populate(memory, bytes);
  }
  ::close(file);
  if (failure == 0) return memory;
  if (memory != MAP_FAILED) ::munmap(memory, bytes);
  ::unlink(path);
  errno = failure;
  return nullptr;
}

/// Makes a Ring, and its lanes on a separate page, which is zero in a forked child.
Ring* make_ring() {
  const std::size_t page = page_bytes();
  void* pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  if (::madvise(pages, page, MADV_WIPEONFORK) != 0) {
    ::munmap(pages, 2 * page);
    return nullptr;
  }
  auto* ring = new (static_cast<char*>(pages) + page) Ring;
  ring->lanes = static_cast<zerotax_lane*>(pages);
  return ring;
}

void lay_out(Ring& ring, std::uint64_t buffer_bytes) {
  RingFile& file = *ring.file;
  std::uint64_t offset = kRingHeaderBytes;
  for (unsigned i = 0; i < kLanes; ++i) {
    LaneFile& lane = file.lanes[i];
    const bool nested = i != 0;
    lane.slots = nested ? kNestedSlots : std::min(kMostSlots, buffer_bytes / kSlotUnit);
    lane.slot_bytes = nested ? kNestedSlotBytes : buffer_bytes / lane.slots / kSlotUnit * kSlotUnit;
    lane.offset = offset;
    offset += lane.slots * lane.slot_bytes;
  }
}

/// Resets the buffer to the state of a thread that has recorded nothing.
void begin_life(Ring& ring) {
  // A reused buffer is already in the list. The lock keeps the drain from a buffer that looks full because only one of
  // `produced` and `consumed` is reset.
  const Locked lock(process.drain_lock);
  RingFile& file = *ring.file;
  for (unsigned i = 0; i < kLanes; ++i) {
    LaneFile& lane = file.lanes[i];
    lane.stream = kLanes * ring.number + i;
    lane.committed = lane.last = lane.produced = lane.begun = lane.discarded = lane.consumed = 0;
    ring.told[i] = 0;
    ring.lanes[i] = {0, nullptr, nullptr, reinterpret_cast<zerotax_commit*>(&lane.committed)};
  }
  std::memcpy(file.uuid, process.uuid, sizeof file.uuid);
  file.base = reinterpret_cast<std::uint64_t>(&file);
  file.pid = static_cast<std::uint32_t>(::getpid());
  file.tid = static_cast<std::uint32_t>(::gettid());
  std::memcpy(file.magic, kRingMagic, sizeof file.magic);
  shared(file.in_use).store(1);
}

bool open_file(Ring& ring, std::uint64_t generation) {
  const std::uint64_t nested = kNestedSlots * kNestedSlotBytes;
  const std::uint64_t main = process.settings.buffer_bytes / kSlotUnit * kSlotUnit;
  const std::size_t bytes = kRingHeaderBytes + main + nested;
  static Path path;
  auto* file = static_cast<RingFile*>(map_file(path.set(ring.number), bytes));
  if (file == nullptr) return false;
  file->bytes = bytes;
  ring.generation = generation;
  ring.file = file;
  lay_out(ring, main);
  return true;
}

}  // namespace

Ring* take_ring(std::uint64_t generation) {
  const std::uint64_t number = process.next_ring.fetch_add(1);
  for (Ring* ring = process.rings.load(std::memory_order_acquire); ring != nullptr; ring = ring->next) {
    if (ring->taken.exchange(true)) continue;
    if (ring->generation != generation) {
      ring->taken.store(false);
      continue;
    }
    static Path before;
    static Path after;
    ::rename(before.set(ring->number), after.set(number));
    ring->number = number;
    begin_life(*ring);
    return ring;
  }
  Ring* ring = make_ring();
  if (ring != nullptr) ring->number = number;
  if (ring == nullptr || !open_file(*ring, generation)) {
    if (first_time(Trouble::kBuffer)) {
      say("no buffer can be made in '%s': %s; the records of this thread are lost; make room, or set ZEROTAX_TRACE_DIR "
          "or ZEROTAX_TRACE_BUFFER to another value",
          process.folder, std::strerror(errno));
    }
    if (ring != nullptr) ::munmap(ring->lanes, 2 * page_bytes());
    return nullptr;
  }
  ring->taken.store(true);
  begin_life(*ring);
  ring->next = process.rings.load();
  while (!process.rings.compare_exchange_weak(ring->next, ring)) {
  }
  return ring;
}

void drop_rings_of_parent(Ring* own) {
  if (own != nullptr) own->over = true;
  for (Ring* ring = process.rings.exchange(nullptr); ring != nullptr; ring = ring->next) {
    if (ring == own || ring->file == nullptr) continue;
    ::munmap(ring->file, ring->file->bytes);
    ring->file = nullptr;
  }
}

void unlink_ring(const Ring& ring) {
  static Path path;
  ::unlink(path.set(ring.number));
}

void remove_ring(Ring& ring) {
  RingFile* file = ring.file;
  ring.file = nullptr;
  unlink_ring(ring);
  ::munmap(file, file->bytes);
}

}  // namespace zerotax::recorder
