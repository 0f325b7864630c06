#pragma once

#include <atomic>
#include <cstdint>

#include "format/ring_file.h"
#include "zerotax/recorder.h"

namespace zerotax::recorder {

/// A thread's buffer: the mapped file, and data that only this process has.
struct Ring {
  Ring* next = nullptr;            ///< next buffer in the list; no buffer is ever removed from it
  zerotax_lane* lanes = nullptr;   ///< kLanes lanes, zero in a forked child
  RingFile* file = nullptr;        ///< nullptr if the file is gone
  std::atomic<bool> taken{false};  ///< whether a thread records into the buffer
  bool over = false;  ///< whether all records of the buffer are written, or the buffer belongs to a parent process;
                      ///< guarded by drain_lock
  std::uint64_t generation = 0;
  std::uint64_t number = 0;         ///< number N of the file .ring-N
  std::uint64_t told[kLanes] = {};  ///< LaneFile::discarded, as reported by the last packet in the stream
};

/// Accesses a lane's counter, which is shared with the drain, and with processes that read the file.
inline std::atomic_ref<std::uint64_t> shared(std::uint64_t& counter) { return std::atomic_ref<std::uint64_t>(counter); }

/// Returns the slot for the packet with this sequence number.
inline char* slot_of(const Ring& ring, const LaneFile& lane, std::uint64_t sequence) {
  return reinterpret_cast<char*>(ring.file) + lane.offset + sequence % lane.slots * lane.slot_bytes;
}

/// Makes a buffer for the calling thread, or takes one that a thread has released. If that fails, returns nullptr and
/// reports the reason. The buffer's pages are populated, so that no record can meet a full disk. `generation` is that
/// of the buffer's trace. The caller must hold registry_lock.
Ring* take_ring(std::uint64_t generation);

/// Removes a buffer's file; the memory stays mapped. The caller must hold drain_lock.
void unlink_ring(const Ring& ring);

/// Removes a buffer's file and unmaps it. The caller must hold drain_lock.
void remove_ring(Ring& ring);

/// Forgets the parent's buffers in a forked child, without changing them. The forking thread's buffer stays mapped,
/// because a handler that forks may have interrupted a record.
void drop_rings_of_parent(Ring* own);

/// Adds a record, beginning a new packet if needed. Returns false, and counts the record as lost, if it was not kept.
/// The caller must have made the lane busy. `ticks` is the record's time; nullptr means now.
bool put_record(Ring& ring, unsigned lane, std::uint64_t word, const void* bytes, std::uint64_t size,
                const std::uint64_t* ticks);

/// Completes the unfinished packet, if there is one. The caller must have made the lane busy, or blocked all signals.
void complete_packet(Ring& ring, unsigned lane);

/// Returns the number of records in a packet.
std::uint64_t count_records(const char* packet);

}  // namespace zerotax::recorder
