#pragma once

#include <string>
#include <vector>

namespace zerotax::trace {

struct CtfRepair {
  std::size_t packets = 0;            ///< number of packets added to stream files
  std::size_t buffers = 0;            ///< number of buffers removed, because their streams now contain all their
                                      ///< packets
  std::vector<std::string> problems;  ///< one line each
};

/// Completes the stream files of ended processes with the packets left in their threads' buffers, so that any reader of
/// CTF sees all packets. Cuts off half-written packets at the ends of streams. Skips processes that still run, and
/// files that are not streams. Throws UsageError if there is no trace, if no part of the trace can be repaired, or if a
/// file cannot be written.
CtfRepair repair_ctf_trace(const std::string& folder);

}  // namespace zerotax::trace
