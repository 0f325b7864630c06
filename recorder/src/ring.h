#pragma once

#include <atomic>
#include <cstdint>

#include "format/ring_file.h"
#include "zerotax/recorder.h"

namespace zerotax::recorder {

/// A thread's buffer: the mapped file, and what only this process knows about it.
struct Ring {
  Ring* next = nullptr;            ///< they are only ever added
  zerotax_lane* lanes = nullptr;   ///< kLanes of them, zero in a forked child
  RingFile* file = nullptr;        ///< nullptr: it is gone
  std::atomic<bool> taken{false};  ///< a thread records into it
  bool over = false;               ///< everything in it that counts is written, or it is a parent's; drain_lock is held
  std::uint64_t generation = 0;
  std::uint64_t number = 0;         ///< its file is .ring-N
  std::uint64_t told[kLanes] = {};  ///< of LaneFile::discarded: what the last packet in the stream says
};

/// The counters of a lane are shared with the drain, and with whoever reads the file.
inline std::atomic_ref<std::uint64_t> shared(std::uint64_t& counter) { return std::atomic_ref<std::uint64_t>(counter); }

/// The slot of the packet of this sequence number.
inline char* slot_of(const Ring& ring, const LaneFile& lane, std::uint64_t sequence) {
  return reinterpret_cast<char*>(ring.file) + lane.offset + sequence % lane.slots * lane.slot_bytes;
}

/// Makes a buffer for the calling thread, or takes one that a thread has left, or reports why not (nullptr). Its pages
/// are populated: no record can meet a full disk. `generation`: that of its trace. registry_lock is held.
Ring* take_ring(std::uint64_t generation);

/// Removes a buffer's file, which stays mapped. drain_lock is held.
void unlink_ring(const Ring& ring);

/// Removes a buffer's file and unmaps it. drain_lock is held.
void remove_ring(Ring& ring);

/// In a forked child: forgets the parent's buffers, which stay as they are. The forking thread's buffer stays mapped,
/// because a handler that forks may have interrupted a record.
void drop_rings_of_parent(Ring* own);

/// Adds a record, even if that needs a new packet; false: it was not kept, and this is counted. The caller has made the
/// lane busy. `ticks`: its time; nullptr: now.
bool put_record(Ring& ring, unsigned lane, std::uint64_t word, const void* bytes, std::uint64_t size,
                const std::uint64_t* ticks);

/// Completes the unfinished packet, if there is one. The caller has made the lane busy, or blocked all signals.
void complete_packet(Ring& ring, unsigned lane);

/// Counts the records of a packet.
std::uint64_t count_records(const char* packet);

}  // namespace zerotax::recorder
