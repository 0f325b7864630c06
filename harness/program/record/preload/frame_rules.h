#pragma once

#include <cstddef>
#include <cstdint>

#include "os/processor.h"

namespace zerotax::record {

/// Reads the bytes of a mapped file in sequence. A read past the end returns zeros, and sets `ended`.
class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(const unsigned char* begin, const unsigned char* end) : at_(begin), end_(end) {}

  /// Reads a number of up to eight bytes.
  std::uint64_t number(std::size_t bytes);
  std::int64_t signed_number(std::size_t bytes);
  std::uint64_t leb();
  std::int64_t signed_leb();
  /// Returns a reader for the next `bytes` bytes.
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

/// Rule for finding a register of the caller, or the canonical frame address (CFA). Source: DWARF 5, section 6.4.1.
struct Rule {
  enum class Kind : std::uint8_t { kSame, kUndefined, kAtOffset, kOffset, kRegister, kAtExpression, kExpression };
  Kind kind = Kind::kSame;
  std::uint8_t base = 0;    ///< for kRegister and the CFA, the register to which `number` is added
  std::int64_t number = 0;  ///< distance from the CFA in bytes
  ByteReader expression{};
};

/// The row of call frame information that applies to an address.
struct FrameRules {
  Rule cfa;
  Rule registers[kRegisters];
  bool is_signal_frame = false;
  bool is_signed = false;  ///< whether the return address carries an authentication code (arm64)
};

/// Whether an address lies in code that has call frame information.
bool has_frame_rules(std::uint64_t address);

/// Finds the row in the tables of the object that contains the address, and reads nothing beyond that object. Returns
/// false if there is no row, or the row contains an unknown rule. Takes no lock.
bool find_frame_rules(std::uint64_t address, FrameRules& rules);

}  // namespace zerotax::record
