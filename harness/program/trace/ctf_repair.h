#pragma once

#include <string>
#include <vector>

namespace zerotax::trace {

struct CtfRepair {
  std::size_t packets = 0;            ///< that were added to stream files
  std::size_t buffers = 0;            ///< that were removed, as their streams have all of them
  std::vector<std::string> problems;  ///< a line each
};

/// Completes the stream files of processes that ended without doing so, from their threads' buffers, so that any reader
/// of CTF has all of it; cuts off a half-written packet at a stream's end. Processes that still run are left as they
/// are, and so is what was never a stream. Throws UsageError if there is no trace, nothing of it can be made sense of,
/// or nothing can be written.
CtfRepair repair_ctf_trace(const std::string& folder);

}  // namespace zerotax::trace
