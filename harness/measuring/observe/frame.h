#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace zerotax {

/// A function on a stack.
struct Frame {
  std::string function;  ///< demangled; "0x…" where no symbol is known
  std::string module;    ///< file name of the program, library or script; "kernel"; empty if not known
  /// Where in it: of the innermost frame the instruction, of the others the one they return to. 0 if not known. Two
  /// places in a function are one frame.
  std::uint64_t address = 0;
  std::uint64_t offset = 0;  ///< from the function's begin; 0 if that is not known
  /// Whose code it is: a function of a script, by its interpreter's perf map; as such, or by way of the interpreter.
  enum class Script : std::uint8_t { kNone, kCompiled, kInterpreted };
  Script script = Script::kNone;

  auto operator<=>(const Frame& other) const {
    const auto order = function <=> other.function;  // NOLINT(modernize-use-nullptr)
    return std::is_neq(order) ? order : module <=> other.module;
  }
  bool operator==(const Frame& other) const { return function == other.function && module == other.module; }
};

/// Outermost first.
using Stack = std::vector<Frame>;

}  // namespace zerotax
