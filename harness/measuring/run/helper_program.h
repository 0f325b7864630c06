#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "os/child.h"

namespace zerotax {

/// A foreign program that a command needs, such as python3, cc or apt-get.
struct HelperCommand {
  std::string program;  ///< found on PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours, or replacing
  std::chrono::milliseconds timeout{300'000};
};

/// Runs a program to its end with its output captured. The program's temporary files lie in a folder that is removed
/// afterwards. The returned program has exited by itself, with 127 if it does not exist. Throws Stop if a signal
/// interrupted us. Throws MachineError if the program was killed, could not be started, or timed out: it is not missing
/// then.
ChildResult run_helper(const HelperCommand& command);

/// Whether the program exited with 0.
inline bool succeeded(const ChildResult& result) { return result.end == ChildResult::End::kExited && result.code == 0; }

/// env(1)'s exit status for a program that does not exist.
inline constexpr int kNoSuchProgram = 127;

}  // namespace zerotax
