#pragma once

#include <optional>

#include "advise/result.h"
#include "advise/target.h"

namespace zerotax::advise {

using record::Cause;
using record::kNoticed;

/// Results of a recorded run of the program.
struct Recorded : RecordedZeroing {
  bool huge_pages = true;          ///< whether some of the memory may have been in huge pages
  bool threads = false;            ///< whether several threads of a process may have used the allocator
  double calls = 0;                ///< calls to functions of malloc's family in all recorded processes
  std::vector<std::string> files;  ///< programs and libraries that were seen, except allocators
  std::string large_blocks_at;     ///< source line that allocated most large blocks at the peak; may be empty
  std::uint64_t fork_ns = 0;       ///< time in fork calls of sites whose processes held 1 MiB on average
  record::Tax tax;

  /// Returns the share of CPU time that a cause takes, from 0 to 1, or a lower bound of this share; std::nullopt if no
  /// share was measured.
  [[nodiscard]] std::optional<double> share(Cause cause) const;
  /// Returns the share of CPU time that all causes take together.
  [[nodiscard]] std::optional<double> zeroing() const;
  /// Whether forks of processes that hold 1 MiB or more take enough time to matter.
  [[nodiscard]] bool forks_matter() const;
};
using Recording = Measured<Recorded>;

/// Records one run with these variables and this launcher. Returns std::nullopt if a signal stopped the run.
std::optional<Recording> record_target(TargetRunner& runner, const TargetRunner::Variables& variables,
                                       const TargetRunner::Words& launcher);

}  // namespace zerotax::advise
