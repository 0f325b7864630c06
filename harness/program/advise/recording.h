#pragma once

#include <optional>

#include "advise/result.h"
#include "advise/target.h"

namespace zerotax::advise {

using record::Cause;
using record::kNoticed;

/// What a recorded run of the program says.
struct Recorded : RecordedZeroing {
  bool threads = false;            ///< several threads of a process may have used the allocator
  double calls = 0;                ///< of malloc's family, by all that was recorded
  std::vector<std::string> files;  ///< of its programs and libraries that were seen, but for allocators
  record::Tax tax;

  /// Share of CPU time of a cause, 0 to 1, or the least that it is; nothing where it was not measured.
  [[nodiscard]] std::optional<double> share(Cause cause) const;
  /// Of all causes together.
  [[nodiscard]] std::optional<double> zeroing() const;
};
using Recording = Measured<Recorded>;

/// Records one run with these variables. Nothing if it was stopped.
std::optional<Recording> record_target(TargetRunner& runner, const TargetRunner::Variables& variables);

}  // namespace zerotax::advise
