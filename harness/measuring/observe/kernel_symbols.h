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

/// What the kernel does for a program whose pages are zeroed, or shared by fork: an index into kernel_works().
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

/// The work that a kernel function names. Nothing if it names none: then it belongs to its caller.
std::optional<KernelWork> kernel_work_of(std::string_view function);

/// The work of a stack: that of its innermost kernel function which names one; kOtherWork if none does, nothing if the
/// sample was taken in user mode.
std::optional<KernelWork> kernel_work_of(const Stack& stack);

}  // namespace zerotax
