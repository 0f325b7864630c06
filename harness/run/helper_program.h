#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "os/child.h"

namespace zerotax {

/// A program of others that a command needs, such as python3, cc or apt-get.
struct HelperCommand {
  std::string program;  ///< found on PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours, or replacing
  std::chrono::milliseconds timeout{300'000};
};

/// Runs it to its end with its output captured. Its temporary files lie in a folder that is removed after it. What is
/// returned has exited by itself, with 127 if there is no such program. Throws Stop if a signal asked for an end
/// meanwhile, and MachineError if it was killed, could not be started, or was not done in time: it is not missing then.
ChildResult run_helper(const HelperCommand& command);

/// Whether it exited with 0.
inline bool succeeded(const ChildResult& result) { return result.end == ChildResult::End::kExited && result.code == 0; }

/// The exit status of env(1) for a program that is not there.
inline constexpr int kNoSuchProgram = 127;

}  // namespace zerotax
