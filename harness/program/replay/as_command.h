#pragma once

#include <string>

namespace zerotax::replay {

/// How well the replay of a file predicts, as a sentence; empty if the file is no recording. Throws MachineError if its
/// replay under the recorded allocator differs by more than 5 % in what the kernel zeroes, or that is unknown.
std::string checked_prediction(const std::string& path);

}  // namespace zerotax::replay
