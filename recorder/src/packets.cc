#include <unistd.h>

#include <cstring>

#include "drain.h"
#include "process.h"
#include "ring.h"
#include "say.h"
#include "types.h"

// Puts records into packets of a ring. Only the thread that owns the ring calls these functions, with the lane busy and
// without a lock. A signal handler may interrupt the thread anywhere, and then records into the other lane.

namespace zerotax::recorder {
namespace {

constexpr std::uint64_t kFarthest = std::uint64_t{1} << (kTickBits - 1);

bool is_begun(LaneFile& lane) { return shared(lane.begun).load() == shared(lane.produced).load() + 1; }

char* begun_slot(const Ring& ring, LaneFile& lane) { return slot_of(ring, lane, shared(lane.produced).load()); }

/// Sets the limit below which the inlined path records. The limit is nullptr if types must be checked, or if the clock
/// is not the TSC, the only clock of this path. The limit is also nullptr if the trace has been stopped in the
/// meantime. No stop is missed, because stop_lanes() and this function see each other's stores.
void set_limit(const Ring& ring, zerotax_lane& lane, char* limit) {
  const bool inlined = counts_tsc(process.clock) && !process.looks.load(std::memory_order_relaxed);
  __atomic_store_n(&lane.limit, inlined ? limit : nullptr, __ATOMIC_SEQ_CST);
  if (process.generation.load() != ring.generation) __atomic_store_n(&lane.limit, nullptr, __ATOMIC_SEQ_CST);
}

/// Drops the oldest packet that the drain has not taken. The records are counted before `consumed` changes, so that a
/// dropped packet is always in the count.
void overwrite_oldest(const Ring& ring, LaneFile& lane) {
  std::uint64_t oldest = shared(lane.consumed).load();
  const std::uint64_t records = count_records(slot_of(ring, lane, oldest));
  shared(lane.discarded).fetch_add(records);
  if (!shared(lane.consumed).compare_exchange_strong(oldest, oldest + 1)) shared(lane.discarded).fetch_sub(records);
}

bool has_free_slot(LaneFile& lane) {
  return shared(lane.produced).load() - shared(lane.consumed).load(std::memory_order_acquire) < lane.slots;
}

/// Completes the unfinished packet. If many packets are waiting, wakes the drain to write them, or writes them in this
/// thread.
void pass_on(Ring& ring, unsigned index) {
  LaneFile& lane = ring.file->lanes[index];
  complete_packet(ring, index);
  if (shared(lane.produced).load() - shared(lane.consumed).load() < lane.slots / 4) return;
  if (drain_of(process.settings) == ZEROTAX_TRACE_DRAIN_SELF) {
    drain_own(ring, index);
  } else {
    wake_drain();
  }
}

bool begin_packet(Ring& ring, unsigned index, std::uint64_t now) {
  LaneFile& lane = ring.file->lanes[index];
  if (!has_free_slot(lane)) {
    if (drain_of(process.settings) == ZEROTAX_TRACE_DRAIN_SELF) drain_own(ring, index);
    if (!has_free_slot(lane) && mode_of(process.settings) == ZEROTAX_TRACE_OVERWRITE) overwrite_oldest(ring, lane);
    if (!has_free_slot(lane)) {
      wake_drain();
      return false;
    }
  }
  const std::uint64_t sequence = shared(lane.produced).load();
  char* const slot = slot_of(ring, lane, sequence);
  PacketHeader header{kPacketMagic,  {}, 0, now, now, 0, 0, sequence, shared(lane.discarded).load(), ring.file->pid,
                      ring.file->tid};
  std::memcpy(header.uuid, ring.file->uuid, sizeof header.uuid);
  std::memcpy(slot, &header, sizeof header);
  char* const first = slot + sizeof header;
  ring.lanes[index].cursor = first;
  shared(lane.last).store(now);
  shared(lane.committed).store(reinterpret_cast<std::uint64_t>(first));
  shared(lane.begun).store(sequence + 1, std::memory_order_release);
  set_limit(ring, ring.lanes[index], slot + lane.slot_bytes);
  return true;
}

void write_record(zerotax_lane& lane, LaneFile& file, std::uint64_t word, std::uint64_t now, const void* bytes,
                  std::uint64_t size, std::uint64_t need) {
  const std::uint64_t first = word | (now & ((std::uint64_t{1} << kTickBits) - 1));
  char* const at = lane.cursor;
  std::memcpy(at, &first, sizeof first);
  if (size != 0) std::memcpy(at + sizeof first, bytes, size);
  lane.cursor += need;
  shared(file.last).store(now, std::memory_order_relaxed);
  shared(file.committed).store(reinterpret_cast<std::uint64_t>(at + sizeof first + size), std::memory_order_release);
}

}  // namespace

std::uint64_t count_records(const char* packet) {
  PacketHeader header{};
  std::memcpy(&header, packet, sizeof header);
  std::uint64_t count = 0;
  for (std::uint64_t at = sizeof header; at < header.content_bits / 8;) {
    std::uint64_t word = 0;
    std::memcpy(&word, packet + at, sizeof word);
    const std::uint64_t bytes = record_bytes(word >> kTickBits);
    if (bytes == 0) break;
    at += bytes;
    ++count;
  }
  return count;
}

void complete_packet(Ring& ring, unsigned index) {
  LaneFile& lane = ring.file->lanes[index];
  if (!is_begun(lane)) return;
  __atomic_store_n(&ring.lanes[index].limit, nullptr, __ATOMIC_RELAXED);
  char* const slot = begun_slot(ring, lane);
  PacketHeader header{};
  std::memcpy(&header, slot, sizeof header);
  header.timestamp_end = lane.last;
  const std::uint64_t length = shared(lane.committed).load() - reinterpret_cast<std::uint64_t>(slot);
  header.content_bits = length * 8;
  header.packet_bits = padded(length) * 8;
  header.discarded = shared(lane.discarded).load();
  std::memcpy(slot, &header, sizeof header);
  // From here on, the packet belongs to the drain.
  shared(lane.produced).store(shared(lane.produced).load() + 1, std::memory_order_release);
}

bool put_record(Ring& ring, unsigned index, std::uint64_t word, const void* bytes, std::uint64_t size,
                const std::uint64_t* ticks) {
  LaneFile& lane = ring.file->lanes[index];
  const std::uint64_t need = padded(sizeof word + size);
  if (need + sizeof(PacketHeader) > lane.slot_bytes) {
    shared(lane.discarded).fetch_add(1);
    if (first_time(Trouble::kLarge)) {
      say("a record of %llu bytes is larger than a packet of the buffer (%llu): it is lost; set ZEROTAX_TRACE_BUFFER "
          "to "
          "%u times its size or more",
          static_cast<unsigned long long>(size), static_cast<unsigned long long>(lane.slot_bytes), 64U);
    }
    return false;
  }
  std::uint64_t now = ticks != nullptr ? *ticks : read_ticks(process.clock);
  const bool begun = is_begun(lane);
  // A stream's clock never goes back, although CPUs may differ by some ticks.
  if (shared(lane.produced).load() + begun > 0 && now - lane.last >= std::uint64_t{1} << 63) now = lane.last;
  if (begun) {
    const char* const end = begun_slot(ring, lane) + lane.slot_bytes;
    // 48 bits cannot represent a later time, so the next packet begins with a time of 64 bits.
    if (ring.lanes[index].cursor + need > end || now - lane.last >= kFarthest) pass_on(ring, index);
  }
  if (!is_begun(lane) && !begin_packet(ring, index, now)) {
    shared(lane.discarded).fetch_add(1);
    return false;
  }
  write_record(ring.lanes[index], lane, word, now, bytes, size, need);
  return true;
}

}  // namespace zerotax::recorder
