#pragma once

namespace zerotax {

/// Thrown out of whatever measures or runs programs once a signal asked for an end: the only type for it. Finished
/// results are kept; main says that nothing was, if nobody catches it.
struct Stop {};

/// The signal that asked for an end, or 0.
int interrupted();

/// Whether a signal asked for an end.
inline bool stop_requested() { return interrupted() != 0; }

/// Throws Stop if a signal asked for an end.
inline void end_if_stopped() {
  if (stop_requested()) throw Stop{};
}

/// From now on that signal is the one that asked for an end. Async-signal-safe.
void note_interrupt(int number);

}  // namespace zerotax
