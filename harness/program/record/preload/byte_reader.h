#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax::record {

/// Reads the bytes of a mapped file in sequence. Reads past the end return zeros, and set `ended`.
class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(const unsigned char* begin, const unsigned char* end) : at_(begin), end_(end) {}

  /// A number of up to eight bytes.
  std::uint64_t number(std::size_t bytes);
  std::int64_t signed_number(std::size_t bytes);
  std::uint64_t leb();
  std::int64_t signed_leb();
  /// A reader for the next `bytes` bytes.
  ByteReader part(std::uint64_t bytes);
  void skip(std::int64_t bytes);

  [[nodiscard]] const unsigned char* at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  const unsigned char* at_ = nullptr;
  const unsigned char* end_ = nullptr;
  bool ended_ = false;
};

}  // namespace zerotax::record
