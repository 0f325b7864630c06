#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/frame.h"

namespace zerotax {

/// Names of the kernel's functions, from /proc/kallsyms. If the kernel hides its addresses (kptr_restrict), every name
/// is kUnknown.
class KernelSymbols {
 public:
  static constexpr const char* kUnknown = "kernel function";

  explicit KernelSymbols(const std::string& path = "/proc/kallsyms");

  /// Returns whether names are known.
  [[nodiscard]] bool known() const { return !by_address_.empty(); }
  [[nodiscard]] std::string name(std::uint64_t address) const;
  /// Returns the function at an address, and the offset in it.
  [[nodiscard]] Frame frame(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, std::string> by_address_;
};

/// Kinds of work that the kernel does when it zeroes pages, or when it copies pages after a fork. The value is an index
/// into kernel_works().
enum KernelWork : std::size_t {
  kCopyWork,
  kZeroWork,
  kAllocateWork,
  kFreeWork,
  kTlbWork,
  kSplitWork,
  kFaultWork,
  kForkWork,
  kUnmapWork,
  kUserfaultfdWork,
  kLockWork,
  kWaitWork,
  kOtherWork,
  kKernelWorks
};

struct KernelWorkRow {
  const char* summary;
  std::vector<const char*> prefixes;  ///< prefixes of the names of the functions that do this work
};

/// The kinds of work in the order of KernelWork.
const std::vector<KernelWorkRow>& kernel_works();

/// Returns the kind of work for the name of a kernel function, or nothing if the function's work belongs to its caller.
std::optional<KernelWork> kernel_work_of(std::string_view function);

/// Returns the kind of work of a stack: the kind of the innermost kernel function with a kind. Returns kOtherWork if no
/// function has a kind, and nothing if the sample was taken in user mode.
std::optional<KernelWork> kernel_work_of(const Stack& stack);

}  // namespace zerotax
