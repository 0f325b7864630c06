#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "observe/address_space.h"
#include "observe/fault.h"
#include "observe/fault_data.h"
#include "observe/frame.h"
#include "observe/unwinder.h"

namespace zerotax {

/// Faults by the instruction that took them, whichever process ran it.
class FaultSites {
 public:
  /// `code`: where the instruction lies; null if that is not known, or the kernel took the fault. `caller`: the
  /// function that it is attributed to; then that is its place.
  void add(const Fault& fault, FaultClass kind, bool refill, const Region* code,
           const std::optional<FaultCaller>& caller = std::nullopt, std::uint64_t times = 1);

  /// By function, most copies first; names by the files as `pid` had them.
  [[nodiscard]] std::vector<CodeFaults> by_function(std::uint32_t pid) const;

 private:
  struct Site {
    std::string file;
    std::uint64_t
        offset;  ///< in the file, for each process has it elsewhere; of the kernel and of no file: the address
    std::uint64_t inode = 0;                        ///< another file may have had the name
    auto operator<=>(const Site&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  std::map<Site, FaultCounts> sites_;
  std::map<FaultCaller, FaultCounts> callers_;
  std::map<std::pair<std::uint64_t, std::string>, Unwinder::Mapping> files_;  ///< one executable mapping of each
};

}  // namespace zerotax
