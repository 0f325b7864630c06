#pragma once

#include <string>

#include "os/stop.h"  // IWYU pragma: export

namespace zerotax {

/// Makes SIGINT, SIGTERM and SIGHUP request an orderly end. A signal at least a second after the first ends the process
/// at once.
void catch_interrupts();

/// Restores the signal handling from before catch_interrupts(), for a program that replaces zerotax through exec.
/// Async-signal-safe.
void restore_interrupts();

/// Prints on standard error that the command was interrupted, and the effect of the interruption on results. All
/// messages about interruptions come from this function.
void say_interrupted(const std::string& what = "showing only finished results");

}  // namespace zerotax
