#pragma once

#include <string>

#include "os/stop.h"  // IWYU pragma: export

namespace zerotax {

/// From now on SIGINT, SIGTERM and SIGHUP ask for an orderly end; one a second or more after the first ends us at once.
void catch_interrupts();

/// Makes every signal mean again what it meant before catch_interrupts: for a program that takes our place.
/// Async-signal-safe.
void restore_interrupts();

/// Says on standard error that the command was interrupted, and what that means for its results: the only place for it.
void say_interrupted(const std::string& what = "showing only what was finished");

}  // namespace zerotax
