#include "record/preload/frame_rules.h"

// Source of LEB128: DWARF 5, section 7.6.

namespace zerotax::record {

std::uint64_t ByteReader::number(std::size_t bytes) {
  if (left() < bytes) {
    ended_ = true;
    at_ = end_;
    return 0;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(at_[i]) << 8 * i;
  at_ += bytes;
  return value;
}

std::int64_t ByteReader::signed_number(std::size_t bytes) {
  if (bytes == 0) return 0;  // A shift by 64 is undefined.
  const std::size_t unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(number(bytes) << unused) >> unused;
}

std::uint64_t ByteReader::leb() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t byte = number(1);
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  ended_ = true;
  return 0;
}

std::int64_t ByteReader::signed_leb() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t byte = number(1);
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) != 0) continue;
    const bool negative = (byte & 0x40) != 0 && shift + 7 < 64;
    return static_cast<std::int64_t>(negative ? value | ~std::uint64_t{0} << (shift + 7) : value);
  }
  ended_ = true;
  return 0;
}

ByteReader ByteReader::part(std::uint64_t bytes) {
  if (bytes > left()) {
    ended_ = true;
    bytes = left();
  }
  const ByteReader found(at_, at_ + bytes);
  at_ += bytes;
  return found;
}

void ByteReader::skip(std::int64_t bytes) {
  if (bytes < 0 || static_cast<std::uint64_t>(bytes) > left()) {
    ended_ = true;
    at_ = end_;
    return;
  }
  at_ += bytes;
}

}  // namespace zerotax::record
