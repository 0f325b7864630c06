#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "advise/target.h"
#include "base/json.h"
#include "record/tax.h"

namespace zerotax::advise {

using record::kNoticed;

/// What a recorded run of the program says.
struct Recording {
  std::string why_not;    ///< nothing of it can be used, and why; empty if it can
  std::string allocator;  ///< the file of the allocator that the program runs under
  bool threads = false;   ///< a process of it had several
  Json tax;               ///< as a recording has it
  Json totals;            ///< kernel_zeroed_bytes, zeroed_bytes, refilled_bytes: a number, or {"na": why}
  /// Where most zeros are written by hand: "parse(char*) (parse.c:120)"; empty if nowhere is.
  std::string by_hand;

  /// Share of CPU time of a cause, 0 to 1; nothing where it was not measured.
  [[nodiscard]] std::optional<double> share(const std::string& cause) const;
  /// Of all causes together.
  [[nodiscard]] std::optional<double> zeroing() const;
};

/// Records one run with these variables. Nothing if it was stopped.
std::optional<Recording> record_target(TargetRunner& runner, const TargetRunner::Variables& variables);

}  // namespace zerotax::advise
