#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "record/preload/call_area.h"

namespace zerotax::record {

/// A file of recorded calls; docs/replay.md describes it. All numbers are little-endian.

inline constexpr char kCallsMagic[] = "ZTXCALLS";  ///< its first 8 bytes
inline constexpr std::uint32_t kCallsVersion = 1;
inline constexpr std::size_t kCallsHeadBytes = 16;  ///< magic, version, 0

/// A part of the file: this, and `stored_bytes` of it compressed by zlib.
struct CallsPart {
  std::uint32_t kind;
  std::uint32_t process;
  std::uint32_t stored_bytes;
  std::uint32_t raw_bytes;
  std::uint32_t crc32;  ///< of what is stored
};
static_assert(sizeof(CallsPart) == 20);
inline constexpr std::uint32_t kCallsOfProcess = 1;
inline constexpr std::uint32_t kAboutCalls = 2;  ///< the last part: JSON
inline constexpr std::size_t kMostPartBytes = std::size_t{1} << 24;
/// So much of a process's calls is compressed at a time.
inline constexpr std::size_t kUsualPartBytes = std::size_t{256} << 10;

/// What an event is: the lower half of its first byte. The upper half is its first number; 15: a varint of what is
/// above 15 follows. More numbers, as varints, in brackets.
enum class EventKind : std::uint8_t {
  kMalloc,   ///< bytes
  kCalloc,   ///< bytes
  kAligned,  ///< bytes (binary logarithm of the alignment)
  kRealloc,  ///< 1 + age of the block, or 0 for none (bytes)
  kFree,     ///< age of the block
  kTouched,  ///< age of the block (number of ranges; of each: pages between, pages)
  kThread,   ///< number of the thread whose events follow
  kEnd,      ///< of that thread
  kFork,     ///< the forks of a process are counted from 0
  kTime,     ///< so much more of the process's time has passed, in units of kTimeUnit_ns
  kMap,      ///< bytes of anonymous memory that the program mapped for itself: a block, too
  kUnmap,    ///< age of such a block
  kReturn,   ///< age of such a block (the first page, pages): it returned them
  kHuge,     ///< age of a block (the first page, pages): the program asked for huge pages there
};
inline constexpr std::uint8_t kEventKinds = 14;

inline constexpr std::uint64_t kTimeUnit_ns = std::uint64_t{1} << kTimeShift;

/// LEB128.
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
