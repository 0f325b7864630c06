#pragma once

#include <cstdint>
#include <string>

#include "os/page.h"

namespace snapshot {

/// What one run does.
struct Parameters {
  std::string alternative;
  std::uint64_t array_bytes = 0;  ///< whole pages
  std::uint64_t batch_bytes = 0;  ///< whole pages, up to array_bytes
  unsigned writers = 1;           ///< threads that write
  unsigned checkpointers = 1;     ///< threads that copy the snapshot
  unsigned passes = 2;            ///< times that the whole array is written
  /// Negative: nobody waits for anybody. 0 to 1: the writers resume when this share of the batches is copied, and the
  /// rest is copied after they have ended; with 1 they resume when all is copied and the child has ended.
  double hold = -1;
  std::string placement = "default";  ///< on NUMA nodes (placement.h)
  bool memory = false;                ///< sample what memory is used
  bool cpu = false;                   ///< sample the CPU time that is used
  bool pagemap = false;               ///< look at the pagemap when the child has ended

  [[nodiscard]] std::uint64_t pages() const { return array_bytes / zerotax::page_bytes(); }
  [[nodiscard]] std::uint64_t batches() const { return (array_bytes + batch_bytes - 1) / batch_bytes; }
  /// How many batches are copied before the writers resume, and how many may be: both unlimited without a hold.
  [[nodiscard]] std::uint64_t held_batches() const;
};

/// From words KEY=VALUE. Throws std::invalid_argument with a line for people.
Parameters parse_parameters(int count, char** words);

}  // namespace snapshot
