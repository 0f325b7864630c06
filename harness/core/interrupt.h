#pragma once

namespace zerotax {

/// From now on SIGINT, SIGTERM and SIGHUP ask for an orderly end; a second one ends the program at once.
void catch_interrupts();

/// Makes every signal mean again what it meant before catch_interrupts: for a program that takes our place.
/// Async-signal-safe.
void restore_interrupts();

/// The signal that asked for an end, or 0.
int interrupted();

/// Whether a signal asked for an end: for whatever takes a `stop` function.
inline bool stop_requested() { return interrupted() != 0; }

}  // namespace zerotax
