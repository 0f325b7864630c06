#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/frame_rules.h"
#include "record/preload/own_memory.h"
#include "record/preload/own_stack.h"

namespace zerotax::record {

/// Walks through the active functions of a thread, innermost first. The unwinder does not trust registers or call frame
/// information. The unwinder reads only the thread's stack, and only memory that the kernel can read.
class Unwinder {
 public:
  /// Starts at a call to the recorder.
  explicit Unwinder(const EntryRegisters& entry);

  /// Returns the address at which the function continues: the instruction after its call, or the next instruction if it
  /// is_interrupted().
  [[nodiscard]] std::uint64_t address() const { return registers_[kProgramCounter]; }
  [[nodiscard]] bool is_interrupted() const { return is_interrupted_; }
  /// Returns an address within the call instruction, or of the next instruction if is_interrupted().
  [[nodiscard]] std::uint64_t call_address() const { return is_interrupted_ ? address() : address() - 1; }
  /// Whether the end of the stack was reached.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  [[nodiscard]] std::uint64_t stack_pointer() const { return registers_[kStackPointer]; }
  /// Returns the frame pointer; 0 if the frame pointer is unknown.
  [[nodiscard]] std::uint64_t frame_pointer() const { return is_known(kFramePointer) ? registers_[kFramePointer] : 0; }

  /// Moves to the caller. Returns false if there is no caller, or the caller cannot be found.
  bool step();

 private:
  [[nodiscard]] bool is_known(std::uint64_t number) const { return number < kRegisters && (known_ >> number & 1) != 0; }
  bool find(const Rule& rule, std::uint64_t cfa, bool has_cfa, std::uint64_t& value);
  bool evaluate(ByteReader code, std::uint64_t cfa, bool has_cfa, std::uint64_t& value);

  StackMemory memory_;
  Registers registers_{};
  std::uint64_t known_ = 0;  ///< a bit for each register
  bool is_interrupted_ = false;
  bool is_whole_ = false;
};

}  // namespace zerotax::record
