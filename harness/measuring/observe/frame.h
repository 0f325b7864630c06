#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace zerotax {

/// A function on a stack.
struct Frame {
  std::string function;  ///< demangled name; "0x…" if no symbol is known
  std::string module;    ///< file name of the program, library or script, or "kernel"; empty if unknown
  /// Address of the instruction for the innermost frame, and return address for all other frames; 0 if unknown.
  /// Comparisons ignore the address, so two addresses in a function are the same frame.
  std::uint64_t address = 0;
  std::uint64_t offset = 0;  ///< offset from the function's start; 0 if unknown
  std::string after{};       ///< nearest exported function before unnamed code, such as
                             ///< "PyBytes_FromStringAndSize+0x12"
  /// Whether the frame is a function of a script, named by the interpreter's perf map. The function may be compiled, or
  /// run in the interpreter.
  enum class Script : std::uint8_t { kNone, kCompiled, kInterpreted };
  Script script = Script::kNone;

  /// The name shown to users: the function, or "after PyBytes_FromStringAndSize+0x12".
  [[nodiscard]] std::string label() const { return after.empty() ? function : "after " + after; }

  auto operator<=>(const Frame& other) const {
    const auto order = function <=> other.function;  // NOLINT(modernize-use-nullptr)
    return std::is_neq(order) ? order : module <=> other.module;
  }
  bool operator==(const Frame& other) const { return function == other.function && module == other.module; }
};

/// Frames of a stack, outermost first.
using Stack = std::vector<Frame>;

}  // namespace zerotax
