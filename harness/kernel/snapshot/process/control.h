#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "os/page.h"
#include "snapshot/process/parameters.h"

namespace snapshot {

/// What the process and its child exchange: in shared memory, never through a heap.
struct Control {
  std::atomic<std::uint64_t> batches_done = 0;
  std::atomic<std::uint32_t> writers_running = 0;
  std::atomic<std::int64_t> complete_ns = 0;  ///< CLOCK_MONOTONIC: the last batch was copied
  std::atomic<pid_t> child = 0;
  std::atomic<std::uint64_t> unmapped = 0;        ///< batches that the child has unmapped
  std::atomic<std::uint64_t> memory_samples = 0;  ///< that were finished while the alternative worked
  std::atomic<int> unmap_error = 0;               ///< the errno of a batch that it could not unmap
  // What only the child can see:
  std::atomic<std::uint64_t> checked = 0;
  std::atomic<std::uint64_t> wrong = 0;
  std::atomic<std::uint64_t> first_wrong = 0;
  std::int64_t child_user_ns = 0;  ///< its CPU time, when it was waited for
  std::int64_t child_system_ns = 0;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "two processes share it");

/// What an alternative works on.
struct Job {
  Parameters parameters;
  zerotax::AddressRange array;
  unsigned char* copy = nullptr;  ///< where the snapshot goes: memory of the array's size
  Control* control = nullptr;
  /// Called by a writer before it writes to a page, if it is set; set it in prepare() only.
  void (*before_write)(void* context, std::uint64_t page) = nullptr;
  void* context = nullptr;

  [[nodiscard]] unsigned char* at(std::uint64_t offset) const {
    return reinterpret_cast<unsigned char*>(array.begin) + offset;  // NOLINT(performance-no-int-to-ptr)
  }
};

}  // namespace snapshot
