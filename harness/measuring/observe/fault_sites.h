#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "observe/address_space.h"
#include "observe/fault.h"
#include "observe/fault_data.h"
#include "observe/frame.h"
#include "observe/interpreter.h"
#include "observe/unwinder.h"
#include "os/clock.h"

namespace zerotax {

/// A region as a mapping, for names.
Unwinder::Mapping code_of(const Region& region);

/// The function that a fault is attributed to.
struct FaultCaller {
  Frame frame;
  std::string through;  ///< the C library's function that it called, which took the fault; empty: itself
  auto operator<=>(const FaultCaller&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// How many of the faults in user mode their stacks are known of.
struct FaultStacks {
  std::uint64_t taken = 0;
  std::uint64_t lost = 0;     ///< the kernel dropped it
  std::uint64_t skipped = 0;  ///< there was no time to unwind it
};

/// Finds which function of a script took a fault: by the instruction, where an interpreter compiled it to memory; or,
/// of stacks that were taken, the innermost function that is a script's, whichever of the interpreter's took the fault.
/// Where a function of the C library took it, such as memset, by its stack which other function called that.
class FaultScripts {
 public:
  explicit FaultScripts(bool stacks) : stacks_(stacks) {}

  /// What the kernel reports, in the order of time. `space`: of the process, before the event; of its parent, of a
  /// fork.
  void apply(const FaultEvent& event, const AddressSpace& space);
  /// `code`: where the instruction lies, or null.
  std::optional<FaultCaller> of(const Fault& fault, const Region* code, const AddressSpace& space);
  /// A process ends, or will be watched no longer: what is known of its interpreter is kept.
  void note(pid_t pid, const AddressSpace& space);

  [[nodiscard]] const ScriptNames& names() const { return names_; }
  [[nodiscard]] const FaultStacks& stacks() const { return counts_; }

 private:
  struct Taken {
    std::uint64_t address = 0;
    std::shared_ptr<UserStack> stack;
  };

  Unwinder& unwinder(pid_t pid, const AddressSpace& space);
  std::optional<FaultCaller> in_stack(const Fault& fault, bool in_c_library, Unwinder& unwinder);

  bool stacks_;
  std::map<pid_t, std::shared_ptr<Unwinder>> unwinders_;  ///< shared with children of fork until they map code
  std::map<pid_t, Taken> taken_;                          ///< by thread, its last one
  ScriptNames names_;
  FaultStacks counts_;
  std::int64_t begin_ns_ = monotonic_ns();
  std::int64_t spent_ns_ = 0;  ///< of CPU time
};

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
