#include "stream.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "process.h"
#include "say.h"

namespace zerotax::recorder {
namespace {

/// A stream file, open only while it is being written. A program may close descriptors that it does not know, and open
/// others with the same numbers.
class StreamFile {
 public:
  explicit StreamFile(std::uint64_t stream) {
    static char path[PATH_MAX];  // static, because a handler's stack may be small; drain_lock is held
    std::snprintf(path, sizeof path, "%.4000s/stream-%llu", process.folder, static_cast<unsigned long long>(stream));
    path_ = path;
    file_ = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    struct stat status {};
    if (file_ < 0 || ::fstat(file_, &status) != 0) failure_ = errno;
    bytes_ = status.st_size;
  }
  ~StreamFile() {
    if (file_ >= 0) ::close(file_);
  }
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;

  /// Appends a packet completely or not at all.
  bool append(const char* packet) {
    PacketHeader header{};
    std::memcpy(&header, packet, sizeof header);
    const std::size_t length = header.packet_bits / 8;
    std::size_t done = 0;
    while (failure_ == 0 && done < length) {
      const ssize_t written = ::write(file_, packet + done, length - done);
      if (written > 0) done += static_cast<std::size_t>(written);
      if (written < 0 && errno != EINTR) failure_ = errno;
      if (written == 0) failure_ = EIO;
    }
    if (failure_ == 0) {
      bytes_ += static_cast<off_t>(length);
      return true;
    }
    // If ftruncate fails too, the reader ignores the incomplete packet.
    if (done > 0) static_cast<void>(::ftruncate(file_, bytes_) == 0);
    if (first_time(Trouble::kStream)) {
      say("'%s' cannot be written: %s; records are lost until the file can be written; make room or name another "
          "folder in ZEROTAX_TRACE_DIR",
          path_, std::strerror(failure_));
    }
    // The failed packet may have been too long for the remaining room. The next packet may fit.
    if (file_ >= 0) failure_ = 0;
    return false;
  }

 private:
  const char* path_ = "";
  int file_ = -1;
  int failure_ = 0;
  off_t bytes_ = 0;
};

/// Returns room for a copy of a packet of at least `bytes`, or nullptr if there is no memory. The caller must hold
/// drain_lock.
char* scratch(std::size_t bytes) {
  static void* room = nullptr;
  static std::size_t room_bytes = 0;
  if (bytes > room_bytes) {
    if (room != nullptr) ::munmap(room, room_bytes);
    room_bytes = 0;
    room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) room = nullptr;
    if (room != nullptr) room_bytes = bytes;
  }
  return static_cast<char*>(room);
}

/// Copies data that the data's thread may be writing. The caller checks afterwards whether the thread wrote meanwhile.
[[gnu::no_sanitize("thread")]] void copy_racing(char* to, const char* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    const auto* word = reinterpret_cast<const std::uint64_t*>(from + i);
    *reinterpret_cast<std::uint64_t*>(to + i) = __atomic_load_n(word, __ATOMIC_RELAXED);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
}

PacketHeader header_of(const char* packet) {
  PacketHeader header{};
  std::memcpy(&header, packet, sizeof header);
  return header;
}

void append(Ring& ring, unsigned index, StreamFile& stream, const char* packet) {
  if (stream.append(packet)) {
    ring.told[index] = header_of(packet).discarded;
  } else {
    shared(ring.file->lanes[index].discarded).fetch_add(count_records(packet));
  }
}

/// Copies and takes a packet. Returns false if the thread overwrote the packet meanwhile in a full buffer, and so
/// advanced `consumed`.
bool take_copy(Ring& ring, LaneFile& lane, std::uint64_t sequence, char* copy) {
  copy_racing(copy, slot_of(ring, lane, sequence), lane.slot_bytes);
  return shared(lane.consumed).compare_exchange_strong(sequence, sequence + 1);
}

/// Copies the unfinished packet in its current state. Returns false if no packet is unfinished, or if the packet was
/// completed meanwhile.
bool copy_begun(Ring& ring, LaneFile& lane, char* copy) {
  const std::uint64_t sequence = shared(lane.produced).load(std::memory_order_acquire);
  if (shared(lane.begun).load(std::memory_order_acquire) != sequence + 1) return false;
  const char* const slot = slot_of(ring, lane, sequence);
  const std::uint64_t last = shared(lane.last).load();
  const std::uint64_t length =
      shared(lane.committed).load(std::memory_order_acquire) - reinterpret_cast<std::uint64_t>(slot);
  if (length < sizeof(PacketHeader) || length > lane.slot_bytes) return false;
  copy_racing(copy, slot, padded(length));
  PacketHeader header = header_of(copy);
  header.timestamp_end = std::max(shared(lane.last).load(), last);
  header.content_bits = length * 8;
  header.packet_bits = padded(length) * 8;
  header.discarded = shared(lane.discarded).load();
  std::memcpy(copy, &header, sizeof header);
  return shared(lane.produced).load(std::memory_order_acquire) == sequence;
}

}  // namespace

void write_lane(Ring& ring, unsigned index) {
  LaneFile& lane = ring.file->lanes[index];
  if (shared(lane.produced).load(std::memory_order_acquire) == shared(lane.consumed).load()) return;
  const bool overwrites = mode_of(process.settings) == ZEROTAX_TRACE_OVERWRITE;
  char* const copy = overwrites ? scratch(lane.slot_bytes) : nullptr;
  if (overwrites && copy == nullptr) return;
  StreamFile stream(lane.stream);
  for (;;) {
    const std::uint64_t sequence = shared(lane.consumed).load(std::memory_order_acquire);
    if (shared(lane.produced).load(std::memory_order_acquire) == sequence) return;
    if (!overwrites) {
      append(ring, index, stream, slot_of(ring, lane, sequence));
      shared(lane.consumed).store(sequence + 1, std::memory_order_release);
    } else if (take_copy(ring, lane, sequence, copy)) {
      append(ring, index, stream, copy);
    }
  }
}

void write_end(Ring& ring, unsigned index) {
  LaneFile& lane = ring.file->lanes[index];
  write_lane(ring, index);
  char* const copy = scratch(lane.slot_bytes);
  const bool begun = copy != nullptr && copy_begun(ring, lane, copy);
  const std::uint64_t discarded = shared(lane.discarded).load();
  if (!begun && discarded == ring.told[index]) return;
  StreamFile stream(lane.stream);
  if (begun) append(ring, index, stream, copy);
  if (shared(lane.discarded).load() == ring.told[index]) return;
  const std::uint64_t last = shared(lane.last).load();
  const std::uint64_t now = last != 0 ? last : read_ticks(process.clock);
  PacketHeader empty{kPacketMagic,  {}, 0, now, now, sizeof empty * 8, sizeof empty * 8, 0, 0, ring.file->pid,
                     ring.file->tid};
  std::memcpy(empty.uuid, ring.file->uuid, sizeof empty.uuid);
  empty.sequence = shared(lane.produced).load() + begun;
  empty.discarded = shared(lane.discarded).load();
  char packet[sizeof empty];
  std::memcpy(packet, &empty, sizeof empty);
  if (stream.append(packet)) {
    ring.told[index] = empty.discarded;
  } else {
    // The metadata can be written even on a full disk, because its length is constant.
    process.untold.fetch_add(empty.discarded - ring.told[index]);
  }
}

}  // namespace zerotax::recorder
