#pragma once

#include <cstdint>
#include <string>

#include "replay/calls_file.h"

namespace zerotax::replay {

/// What a prepared file has.
struct Prepared {
  std::uint64_t calls = 0;
  std::uint64_t processes = 0;
  std::uint64_t threads = 0;     ///< of all processes
  std::uint64_t peak_bytes = 0;  ///< the most that the pages of the blocks of one process take
  /// Blocks of which the recording may lack pages, because the end of their process was not seen. A replay does not
  /// write to the missing pages.
  std::uint64_t unknown_blocks = 0;
  /// The most bytes of missing pages of these processes, with data and stacks. kAddressSpaceBytes or more: unlimited.
  std::uint64_t unknown_bytes = 0;
};

/// Checks all events of a recording against each other, and writes them to `path` for replay-calls
/// (process/prepared.h): each block's pages stand where it is allocated, and the slots of blocks are used again.
/// `free_running`: between threads, only the calls for one block keep their order. Throws UsageError for a recording
/// that no program can have made, MachineError if the file cannot be written.
Prepared prepare(const CallsFile& file, const std::string& path, bool free_running);

}  // namespace zerotax::replay
