#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "observe/address_space.h"
#include "observe/copy_writer.h"
#include "observe/fault.h"
#include "observe/fault_data.h"
#include "observe/frame.h"
#include "observe/unwinder.h"

namespace zerotax {

/// Faults by the instruction that took them, over all processes.
class FaultSites {
 public:
  /// Adds a fault. `code` is the mapping of the instruction; null if the mapping is unknown or the kernel took the
  /// fault. If `caller` is known, the fault is attributed to `caller`, not to the instruction.
  void add(const Fault& fault, FaultClass kind, bool refill, const Region* code,
           const std::optional<FaultCaller>& caller = std::nullopt, std::uint64_t times = 1);

  /// Adds a copy fault to the copies by writer. `in_child` says whether a forked process took the fault.
  void add_copy(const Fault& fault, const Region* code, StoreTarget target, bool in_child, std::uint64_t times);

  /// Returns faults by function, most copies first. Names come from the files that `pid` has mapped.
  [[nodiscard]] std::vector<CodeFaults> by_function(std::uint32_t pid) const;
  /// Returns copies by writer, most copies first.
  [[nodiscard]] std::vector<WriterCopies> by_writer(std::uint32_t pid) const;

 private:
  class Names;
  struct Site {
    std::string file;
    /// Offset of the instruction in its file, because processes map a file at different addresses. For the kernel and
    /// for code without a file, this field is the absolute address.
    std::uint64_t offset;
    std::uint64_t inode = 0;                        ///< inode of the file, which distinguishes files of the same name
    auto operator<=>(const Site&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  Site site_of(const Fault& fault, const Region* code);

  std::map<Site, FaultCounts> sites_;
  std::map<std::pair<Site, StoreTarget>, WriterCopies> copies_;
  std::map<FaultCaller, FaultCounts> callers_;
  std::map<std::pair<std::uint64_t, std::string>, Unwinder::Mapping> files_;  ///< one executable mapping of each file
};

}  // namespace zerotax
