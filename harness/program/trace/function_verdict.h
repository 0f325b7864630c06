#pragma once

#include <cstdint>
#include <string>

#include "base/fields.h"
#include "trace/distribution.h"

namespace zerotax::trace {

/// Calls of a function in one trace.
struct FunctionSide {
  std::uint64_t total_ns = 0;
  TimeSums self;                 ///< of each call that ended
  std::uint64_t unfinished = 0;  ///< calls that did not
  [[nodiscard]] bool is_there() const { return self.count() + unfinished > 0; }
};

enum class FunctionChange { kAppeared, kVanished, kGrew, kShrank, kMoreCalls, kFewerCalls, kSame, kUnclear };
ENUM_WORDS(FunctionChange, "appeared", "vanished", "grew", "shrank", "more calls", "fewer calls", "same", "unclear")

/// The change of a function between two traces: part of a DiffRow.
struct FunctionVerdict {
  std::int64_t self_change_ns = 0;
  Measured<double> noise_ns;  ///< that the change of self time must exceed
  FunctionChange verdict = FunctionChange::kSame;
  OrNull<std::string> why;  ///< of kUnclear
};

/// The verdict of one function. Its self time grew or shrank if it changed by more than a tenth, and by more than three
/// standard deviations of a sum of so many calls with the variance that was seen; for that, both traces need ten calls.
/// `complete`: both traces have all their records; otherwise what has gone may only be missing.
FunctionVerdict judge_function(const FunctionSide& before, const FunctionSide& after, bool complete);

/// Whether a program does less than before, or more. The greatest of its functions is the program's own.
enum class Direction { kSame, kLess, kMore };
ENUM_WORDS(Direction, "same", "less", "more")
Direction direction_of(FunctionChange change);

}  // namespace zerotax::trace
