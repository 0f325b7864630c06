#pragma once

#include <cstdint>

// The header of a packet of records, in a thread's buffer and in a stream file alike: CTF 1.8, as declared by
// metadata.cc.

namespace zerotax::recorder {

inline constexpr std::uint32_t kPacketMagic = 0xC1FC1FC1;  // CTF 1.8, 5.1

struct PacketHeader {
  std::uint32_t magic;
  std::uint8_t uuid[16];  ///< of the trace: the process's folder
  std::uint32_t stream_id;
  std::uint64_t timestamp_begin;  ///< of the first record, in ticks of the clock
  std::uint64_t timestamp_end;    ///< of the last one
  std::uint64_t content_bits;     ///< including this header, up to the end of the last record's last field
  std::uint64_t packet_bits;      ///< the same, rounded up to 8 bytes
  std::uint64_t sequence;         ///< 0, 1, … in a stream; a gap is a packet that was overwritten or not written
  std::uint64_t discarded;        ///< records of this stream that were not kept, so far
  std::uint32_t pid;
  std::uint32_t tid;
};
static_assert(sizeof(PacketHeader) == 80);

/// Rounds up to a multiple of 8 bytes.
constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

inline constexpr unsigned kTickBits = 48;  ///< of a record's first word; the other 16 are the number of its type

}  // namespace zerotax::recorder
