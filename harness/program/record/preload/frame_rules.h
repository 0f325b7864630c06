#pragma once

#include <cstdint>

#include "os/processor.h"
#include "record/preload/byte_reader.h"

namespace zerotax::record {

/// How to find a register of the caller, or the canonical frame address (CFA). DWARF 5, section 6.4.1.
struct Rule {
  enum class Kind : std::uint8_t { kSame, kUndefined, kAtOffset, kOffset, kRegister, kAtExpression, kExpression };
  Kind kind = Kind::kSame;
  std::uint8_t base = 0;    ///< of kRegister or the CFA: the register to which `number` is added
  std::int64_t number = 0;  ///< bytes from the CFA
  ByteReader expression{};
};

/// The row of call frame information that applies to an address.
struct FrameRules {
  Rule cfa;
  Rule registers[kRegisters];
  bool is_signal_frame = false;
  bool is_signed = false;  ///< the return address carries an authentication code (arm64)
};

/// Whether an address lies in code that has call frame information.
bool has_frame_rules(std::uint64_t address);

/// Finds the row in the tables of the object that contains the address, and reads nothing beyond that object. Returns
/// false if there is no row, or it cannot be understood. Takes no lock.
bool find_frame_rules(std::uint64_t address, FrameRules& rules);

}  // namespace zerotax::record
