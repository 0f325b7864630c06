#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/fields.h"
#include "os/fault_events.h"

namespace zerotax {

/// How a process was started, by the flags of clone(2): with a copy of the page tables; with shared memory while the
/// parent waits; or with shared memory while the parent runs.
enum class ForkWay : std::uint8_t { kFork, kVfork, kCloneVm };
inline constexpr std::size_t kForkWays = 3;
ENUM_WORDS(ForkWay, "fork", "vfork", "clone_vm")
/// Returns the way of a process that was started with these flags of clone(2).
ForkWay fork_way(std::uint64_t clone_flags);

/// The started processes of one way. Page tables and copied pages are those that the kernel allocated within the calls.
struct ForkSums {
  std::uint64_t processes = 0;
  std::uint64_t kernel_ns = 0;  ///< time from the system call to the start of the child
  std::uint64_t longest_ns = 0;
  std::uint64_t page_tables = 0;
  std::uint64_t copied_pages = 0;  ///< pages that fork copied without a fault, because they are pinned for a device
};

/// Sums the forks of the watched processes. Events must be passed in chronological order.
class ForkTally {
 public:
  void apply(const FaultEvent& event);
  [[nodiscard]] const std::array<ForkSums, kForkWays>& sums() const { return sums_; }

 private:
  struct Open {
    std::uint64_t began_ns = 0;
    std::uint64_t page_tables = 0;
    std::uint64_t copied_pages = 0;
  };
  void end(const FaultEvent& event);

  std::map<pid_t, Open> open_;  ///< the present call of each thread
  std::array<ForkSums, kForkWays> sums_{};
};

}  // namespace zerotax
