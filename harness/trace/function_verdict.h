#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "trace/time_sums.h"

namespace zerotax::trace {

/// Calls of a function in one trace.
struct FunctionSide {
  std::uint64_t total_ns = 0;
  TimeSums self;                 ///< of each call that ended
  std::uint64_t unfinished = 0;  ///< calls that did not
  [[nodiscard]] bool is_there() const { return self.count() + unfinished > 0; }
};

/// What became of a function. The names are those of the JSON.
struct FunctionVerdict {
  /// appeared, vanished, grew, shrank, more calls, fewer calls, same, unclear
  std::string name;
  std::string why;             ///< of unclear; otherwise empty
  Json noise_ns;               ///< that the change of self time must exceed
  std::int64_t change_ns = 0;  ///< of self time
};

/// The verdict of one function. Its self time grew or shrank if it changed by more than a tenth, and by more than three
/// standard deviations of a sum of so many calls with the variance that was seen; for that, both traces need ten calls.
/// `complete`: both traces have all their records; otherwise what has gone may only be missing.
FunctionVerdict judge_function(const FunctionSide& before, const FunctionSide& after, bool complete);

/// Whether this verdict means that the program does more than before: 1; less: -1; neither: 0.
int direction_of(const std::string& verdict);

}  // namespace zerotax::trace
