#pragma once

#include <cstdint>

#include "os/processor.h"
#include "record/preload/byte_reader.h"

namespace zerotax::record {

/// How a register of the caller, or the canonical frame address (CFA), is found. DWARF 5, section 6.4.1.
struct Rule {
  enum class Kind : std::uint8_t { kSame, kUndefined, kAtOffset, kOffset, kRegister, kAtExpression, kExpression };
  Kind kind = Kind::kSame;
  std::uint8_t base = 0;    ///< kRegister; of the CFA: the register that `number` is added to
  std::int64_t number = 0;  ///< from the CFA on, in bytes
  ByteReader expression{};
};

/// The row of call frame information that holds at an address.
struct FrameRules {
  Rule cfa;
  Rule registers[kRegisters];
  bool is_signal_frame = false;
  bool is_signed = false;  ///< the return address carries a code of authentication (arm64)
};

/// Whether an address lies in code that has call frame information.
bool has_frame_rules(std::uint64_t address);

/// Finds the row in the tables of the object that the address lies in, and reads nothing beyond that object. Returns
/// false if there is none, or none that can be understood. Takes no lock.
bool find_frame_rules(std::uint64_t address, FrameRules& rules);

}  // namespace zerotax::record
