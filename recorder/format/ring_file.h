#pragma once

#include <cstdint>

#include "format/packet.h"

// The file behind a thread's buffer: a head with its progress, then the slots, each of which holds a packet. It is a
// hidden file next to the streams, removed when all of it is in them; after a crash it holds what they lack.

namespace zerotax::recorder {

inline constexpr char kRingMagic[8] = {'Z', 'T', 'R', 'I', 'N', 'G', '1', '\0'};
inline constexpr const char* kRingPrefix = ".ring-";
inline constexpr unsigned kLanes = 2;                    ///< the second is for signal handlers that interrupt a record
inline constexpr std::uint64_t kRingHeaderBytes = 4096;  ///< whatever a page is

/// One stream of the thread. Fields share a cache line by who writes them: the recording thread for each record, the
/// recording thread for each packet, and the drain.
struct LaneFile {
  alignas(64) std::uint64_t committed;  ///< address, in the process, behind the last whole record, unpadded
  std::uint64_t last;                   ///< timestamp of the last record
  alignas(64) std::uint64_t produced;   ///< packets that are complete; slot produced % slots may hold an unfinished one
  std::uint64_t begun;                  ///< produced + 1 if it does
  std::uint64_t discarded;
  std::uint64_t slots;
  std::uint64_t slot_bytes;
  std::uint64_t offset;                ///< of slot 0 in the file
  std::uint64_t stream;                ///< its file is stream-N
  alignas(64) std::uint64_t consumed;  ///< packets that are in the stream file, or overwritten
};

struct RingFile {
  char magic[8];
  std::uint64_t base;   ///< address of this struct in the process
  std::uint64_t bytes;  ///< of the file
  std::uint32_t pid;
  std::uint32_t tid;
  std::uint64_t in_use;  ///< a thread records into it
  std::uint8_t uuid[16];
  LaneFile lanes[kLanes];
};
static_assert(sizeof(RingFile) <= kRingHeaderBytes);

}  // namespace zerotax::recorder
