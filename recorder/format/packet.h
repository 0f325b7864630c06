#pragma once

#include <cstdint>

// The header of a packet of records, the same in a thread's buffer and in a stream file. The layout is CTF 1.8, as
// declared by metadata.cc.

namespace zerotax::recorder {

inline constexpr std::uint32_t kPacketMagic = 0xC1FC1FC1;  // magic number of CTF 1.8 (section 5.1)

struct PacketHeader {
  std::uint32_t magic;
  std::uint8_t uuid[16];  ///< UUID of the trace, that is, of the process's folder
  std::uint32_t stream_id;
  std::uint64_t timestamp_begin;  ///< timestamp of the first record, in ticks of the clock
  std::uint64_t timestamp_end;    ///< timestamp of the last record
  std::uint64_t content_bits;     ///< bits from this header to the end of the last record's last field
  std::uint64_t packet_bits;      ///< content_bits rounded up to 8 bytes
  std::uint64_t sequence;         ///< 0, 1, … in a stream; a gap means that a packet was overwritten or not written
  std::uint64_t discarded;        ///< number of records of this stream that have been lost so far
  std::uint32_t pid;
  std::uint32_t tid;
};
static_assert(sizeof(PacketHeader) == 80);

/// Rounds up to a multiple of 8 bytes.
constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

inline constexpr unsigned kTickBits = 48;  ///< bits of the timestamp in a record's first word; the other 16 bits are
                                           ///< the number of the record's type

}  // namespace zerotax::recorder
