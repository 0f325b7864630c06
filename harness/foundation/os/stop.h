#pragma once

namespace zerotax {

/// Thrown by all code that measures or runs programs, once a signal requests an end. Only this type means that a signal
/// requested the end. Finished results are kept. If no code catches Stop, main reports that nothing was kept.
struct Stop {};

/// Returns the signal that requested an end, or 0.
int interrupted();

/// Whether a signal requested an end.
inline bool stop_requested() { return interrupted() != 0; }

/// Throws Stop if a signal requested an end.
inline void end_if_stopped() {
  if (stop_requested()) throw Stop{};
}

/// Records a signal that requests an end. Async-signal-safe.
void note_interrupt(int number);

}  // namespace zerotax
