#pragma once

#include <compare>
#include <string>
#include <vector>

namespace zerotax {

/// A function on a stack.
struct Frame {
  std::string function;  ///< demangled; "0x…" where no symbol is known
  std::string module;    ///< file name of the program or library; "kernel"; empty if not known

  auto operator<=>(const Frame&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Outermost first.
using Stack = std::vector<Frame>;

}  // namespace zerotax
