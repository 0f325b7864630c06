#pragma once

#include <cstdint>
#include <string>

#include "base/fields.h"
#include "trace/distribution.h"

namespace zerotax::trace {

/// Calls of a function in one trace.
struct FunctionSide {
  std::uint64_t total_ns = 0;
  TimeSums self;                 ///< self time of each call that ended
  std::uint64_t unfinished = 0;  ///< calls that did not end
  [[nodiscard]] bool is_there() const { return self.count() + unfinished > 0; }
};

enum class FunctionChange { kAppeared, kVanished, kGrew, kShrank, kMoreCalls, kFewerCalls, kSame, kUnclear };
ENUM_WORDS(FunctionChange, "appeared", "vanished", "grew", "shrank", "more calls", "fewer calls", "same", "unclear")

/// The change of a function between two traces: part of a DiffRow.
struct FunctionVerdict {
  std::int64_t self_change_ns = 0;
  Measured<double> noise_ns;  ///< limit that the change of self time must exceed
  FunctionChange verdict = FunctionChange::kSame;
  OrNull<std::string> why;  ///< reason for kUnclear
};

/// Judges one function. Self time grew or shrank if it changed by more than a tenth and by more than the noise. The
/// noise is three standard deviations of the sum of the calls, and needs ten calls in each trace.
///
/// `complete` says that no records are missing in either trace. If some are missing, a vanished function may merely
/// have lost its records.
FunctionVerdict judge_function(const FunctionSide& before, const FunctionSide& after, bool complete);

/// Whether a program does less or more than before. The direction of a program is kMore if any function does more,
/// otherwise kLess if any function does less.
enum class Direction { kSame, kLess, kMore };
ENUM_WORDS(Direction, "same", "less", "more")
Direction direction_of(FunctionChange change);

}  // namespace zerotax::trace
