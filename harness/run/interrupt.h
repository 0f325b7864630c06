#pragma once

#include <string>

namespace zerotax {

/// Thrown out of whatever measures or runs programs once a signal asked for an end: the only type for it. Finished
/// results are kept; main says that nothing was, if nobody catches it.
struct Stop {};

/// From now on SIGINT, SIGTERM and SIGHUP ask for an orderly end; one a second or more after the first ends us at once.
void catch_interrupts();

/// Makes every signal mean again what it meant before catch_interrupts: for a program that takes our place.
/// Async-signal-safe.
void restore_interrupts();

/// The signal that asked for an end, or 0.
int interrupted();

/// Whether a signal asked for an end.
inline bool stop_requested() { return interrupted() != 0; }

/// Throws Stop if a signal asked for an end.
inline void end_if_stopped() {
  if (stop_requested()) throw Stop{};
}

/// Says on standard error that the command was interrupted, and what that means for its results: the only place for it.
void say_interrupted(const std::string& what = "showing only what was finished");

}  // namespace zerotax
