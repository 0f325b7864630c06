#pragma once

#include <string>
#include <vector>

#include "os/foreground.h"

namespace zerotax {

struct TraceLaunch {
  std::vector<std::string> words;  ///< the command
  std::string folder;              ///< where the trace goes: is empty or does not exist
  bool functions = false;          ///< preload libzerotax-functions
};

/// Runs a program to its end with the recorder told where to write, then completes what it left in buffers. Throws
/// UsageError if it cannot be started or the folder cannot be used, MachineError if a library is missing.
ForegroundResult run_traced(const TraceLaunch& launch);

}  // namespace zerotax
