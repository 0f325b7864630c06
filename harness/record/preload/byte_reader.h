#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax::record {

/// Bytes of a file that is mapped, read one after another. Past their end there are zeros, and `ended` is set.
class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(const unsigned char* begin, const unsigned char* end) : at_(begin), end_(end) {}

  /// A number of up to eight bytes.
  std::uint64_t number(std::size_t bytes);
  std::int64_t signed_number(std::size_t bytes);
  std::uint64_t leb();
  std::int64_t signed_leb();
  /// The next so many bytes, as a reader of their own.
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
