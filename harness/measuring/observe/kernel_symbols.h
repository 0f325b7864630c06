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

/// Kinds of work that the kernel does when it zeroes pages or copies them after a fork. The value is an index into
/// kernel_works().
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
  const char* key;  ///< in documents
  const char* summary;
  std::vector<const char*> prefixes;  ///< of the names of its functions
};

/// In the order in which they are listed.
const std::vector<KernelWorkRow>& kernel_works();

/// The kind of work that the name of a kernel function tells. Nothing if the name tells none: then the function does
/// the work of its caller.
std::optional<KernelWork> kernel_work_of(std::string_view function);

/// The kind of work of a stack: of its innermost kernel function whose name tells one. kOtherWork if no name does;
/// nothing if the sample was taken in user mode.
std::optional<KernelWork> kernel_work_of(const Stack& stack);

}  // namespace zerotax
