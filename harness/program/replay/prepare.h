#pragma once

#include <cstdint>
#include <string>

#include "replay/calls_file.h"

namespace zerotax::replay {

/// Totals of a prepared file.
struct Prepared {
  std::uint64_t calls = 0;
  std::uint64_t processes = 0;
  std::uint64_t threads = 0;     ///< threads of all processes
  std::uint64_t peak_bytes = 0;  ///< peak size of the populated pages of all blocks, in the process with the highest
                                 ///< peak
  /// Number of blocks whose pages may be incomplete in the recording, because the end of their process was not seen. A
  /// replay does not write to the missing pages.
  std::uint64_t unknown_blocks = 0;
  /// Upper bound of the missing pages of these blocks' processes in bytes, including data and stacks. A value of
  /// kAddressSpaceBytes or more means that there is no bound.
  std::uint64_t unknown_bytes = 0;
};

/// Checks the events of a recording against each other, and writes them to `path` for replay-calls
/// (process/prepared.h). Populated pages are written when their block is allocated, and slots of blocks are reused.
/// With `free_running`, threads keep the recorded order only for calls on the same block. Throws UsageError for a
/// recording that no program can have made. Throws MachineError if the file cannot be written.
Prepared prepare(const CallsFile& file, const std::string& path, bool free_running);

}  // namespace zerotax::replay
