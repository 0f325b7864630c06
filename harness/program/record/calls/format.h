#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "record/preload/call_area.h"

namespace zerotax::record {

/// The format of a file of recorded calls, which docs/replay.md describes. All numbers are little-endian.

inline constexpr char kCallsMagic[] = "ZTXCALLS";  ///< the first 8 bytes of the file
inline constexpr std::uint32_t kCallsVersion = 1;
inline constexpr std::size_t kCallsHeadBytes = 16;  ///< three fields: magic, version, and a zero

/// The head of a part of the file. `stored_bytes` of data follow, compressed by zlib.
struct CallsPart {
  std::uint32_t kind;
  std::uint32_t process;
  std::uint32_t stored_bytes;
  std::uint32_t raw_bytes;
  std::uint32_t crc32;  ///< checksum of the stored bytes
};
static_assert(sizeof(CallsPart) == 20);
inline constexpr std::uint32_t kCallsOfProcess = 1;
inline constexpr std::uint32_t kAboutCalls = 2;  ///< the last part of a file: JSON
inline constexpr std::size_t kMostPartBytes = std::size_t{1} << 24;
/// Number of bytes of a process's calls that are usually compressed together.
inline constexpr std::size_t kUsualPartBytes = std::size_t{256} << 10;

/// Kind of an event: the lower half of its first byte. The upper half is the event's first number; if that half is 15,
/// a varint of the excess over 15 follows. The comments below name the first number, and in parentheses the further
/// numbers, each a varint.
enum class EventKind : std::uint8_t {
  kMalloc,   ///< bytes
  kCalloc,   ///< bytes
  kAligned,  ///< bytes (binary logarithm of the alignment)
  kRealloc,  ///< 1 + age of the block, or 0 for no block (bytes)
  kFree,     ///< age of the block
  kTouched,  ///< age of the block (number of ranges; per range: pages skipped, pages)
  kThread,   ///< number of the thread whose events follow
  kEnd,      ///< number of the thread that ends
  kFork,     ///< number of the fork, counted from 0 in each process
  kTime,     ///< time of the process since the last kTime, in units of kTimeUnit_ns
  kMap,      ///< bytes of anonymous memory that the program mapped itself; the mapping counts as a block
  kUnmap,    ///< age of the mapping
  kReturn,   ///< age of the mapping (first page, pages that the program returned)
  kHuge,     ///< age of the block (first page, pages for which the program requested huge pages)
};
inline constexpr std::uint8_t kEventKinds = 14;

inline constexpr std::uint64_t kTimeUnit_ns = std::uint64_t{1} << kTimeShift;

/// Appends a number as LEB128.
inline void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

inline void append_event(std::string& to, EventKind kind, std::uint64_t first) {
  constexpr std::uint64_t kInByte = 15;
  const auto low = static_cast<unsigned>(kind);
  to += static_cast<char>(low | (first < kInByte ? first : kInByte) << 4);
  if (first >= kInByte) append_varint(to, first - kInByte);
}

}  // namespace zerotax::record
