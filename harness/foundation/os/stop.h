#pragma once

namespace zerotax {

/// Thrown by all code that measures or runs programs, once a signal asks for an end. No other type has this meaning.
/// Finished results are kept; if nobody catches Stop, main reports that nothing was kept.
struct Stop {};

/// The signal that asked for an end, or 0.
int interrupted();

/// Whether a signal asked for an end.
inline bool stop_requested() { return interrupted() != 0; }

/// Throws Stop if a signal asked for an end.
inline void end_if_stopped() {
  if (stop_requested()) throw Stop{};
}

/// Records the signal that asked for an end. Async-signal-safe.
void note_interrupt(int number);

}  // namespace zerotax
