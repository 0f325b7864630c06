#pragma once

#include <chrono>
#include <string>

#include "os/child.h"

namespace zerotax {

/// How a program of ours ended, as results report it.
struct ChildVerdict {
  std::string status;  ///< "ok", "failed", "crashed", "timeout", or "skipped" if it was interrupted
  std::string reason;  ///< empty if ok
};

/// How a process ended, in words: "killed by SIGSEGV". `timeout`: what it was given.
std::string how_it_ended(const ChildResult& child, std::chrono::duration<double> timeout);

/// Throws MachineError if it could not be started for lack of descriptors, processes or memory.
ChildVerdict judge(const ChildResult& child, std::chrono::milliseconds timeout);

/// The last line of what a program said: of a Python traceback, what happened.
std::string last_line(std::string text);

}  // namespace zerotax
