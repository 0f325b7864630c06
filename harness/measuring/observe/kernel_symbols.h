#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "observe/frame.h"

namespace zerotax {

/// Names of the kernel's functions, from /proc/kallsyms. Where the kernel hides its addresses (kptr_restrict), each is
/// kUnknown.
class KernelSymbols {
 public:
  static constexpr const char* kUnknown = "kernel function";

  explicit KernelSymbols(const std::string& path = "/proc/kallsyms");

  /// Whether there are names.
  [[nodiscard]] bool known() const { return !by_address_.empty(); }
  [[nodiscard]] std::string name(std::uint64_t address) const;
  /// The function at an address, with the offset in it.
  [[nodiscard]] Frame frame(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, std::string> by_address_;
};

}  // namespace zerotax
