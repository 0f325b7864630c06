#pragma once

#include <cstdint>

#include "format/packet.h"

// The file behind a thread's buffer: a header with the buffer's progress, then the slots, each for one packet. The file
// is hidden, next to the streams, and is removed once the streams contain all its records. After a crash, the file
// contains the records that are missing from the streams.

namespace zerotax::recorder {

inline constexpr char kRingMagic[8] = {'Z', 'T', 'R', 'I', 'N', 'G', '1', '\0'};
inline constexpr const char* kRingPrefix = ".ring-";
inline constexpr unsigned kLanes = 2;                    ///< the second lane is for signal handlers that interrupt a
                                                         ///< record
inline constexpr std::uint64_t kRingHeaderBytes = 4096;  ///< bytes of the header, independent of the page size

/// One stream of the thread. Each cache line has one writer: the recording thread at each record, the recording thread
/// at each packet, or the drain.
struct LaneFile {
  alignas(64) std::uint64_t committed;  ///< address, in the process, at which the last complete record ends,
                                        ///< before any padding
  std::uint64_t last;                   ///< timestamp of the last record
  alignas(64) std::uint64_t produced;   ///< number of complete packets; slot `produced % slots` may contain an
                                        ///< unfinished packet
  std::uint64_t begun;                  ///< produced + 1 if there is an unfinished packet
  std::uint64_t discarded;
  std::uint64_t slots;
  std::uint64_t slot_bytes;
  std::uint64_t offset;                ///< file offset of slot 0
  std::uint64_t stream;                ///< number N of the file stream-N
  alignas(64) std::uint64_t consumed;  ///< number of packets that are in the stream file, or overwritten
};

struct RingFile {
  char magic[8];
  std::uint64_t base;   ///< address of this struct in the process
  std::uint64_t bytes;  ///< size of the file
  std::uint32_t pid;
  std::uint32_t tid;
  std::uint64_t in_use;  ///< whether a thread records into the buffer
  std::uint8_t uuid[16];
  LaneFile lanes[kLanes];
};
static_assert(sizeof(RingFile) <= kRingHeaderBytes);

}  // namespace zerotax::recorder
