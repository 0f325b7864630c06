#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "os/page.h"
#include "os/unique_fd.h"

namespace zerotax::snapshot {

/// The parameters of one run.
struct Parameters {
  std::string alternative;
  std::uint64_t array_bytes = 0;  ///< a multiple of the page size
  std::uint64_t batch_bytes = 0;  ///< a multiple of the page size, at most array_bytes
  unsigned writers = 1;           ///< number of threads that write
  unsigned checkpointers = 1;     ///< number of threads that copy the snapshot
  unsigned passes = 2;            ///< number of times that the whole array is written
  /// Share of the batches that is copied before the writers resume; the other batches are copied after the writers have
  /// ended. With 1, the writers resume when all batches are copied and the child has ended. If the share is negative,
  /// the writers resume at once, and run while the snapshot is copied.
  double hold = -1;
  std::string placement = "default";  ///< placement on the NUMA nodes (placement.h)
  bool memory = false;                ///< whether to sample the memory in use
  bool cpu = false;                   ///< whether to sample the CPU time
  bool pagemap = false;               ///< whether to read the pagemap after the child's end
  int result = -1;                    ///< descriptor of the file for the RunBlock

  [[nodiscard]] std::uint64_t pages() const { return array_bytes / page_bytes(); }
  [[nodiscard]] std::uint64_t batches() const { return (array_bytes + batch_bytes - 1) / batch_bytes; }
  /// Number of batches to copy before the writers resume. Without a hold, returns the number of all batches.
  [[nodiscard]] std::uint64_t held_batches() const;
};

/// Reads words KEY=VALUE. Throws std::invalid_argument with a message for people.
Parameters parse_parameters(int count, char** words);

/// Memory that stays shared across a fork. The kernel reports the populated size of this memory. Throws
/// std::runtime_error.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// `populate` populates all of the memory now, so that no page is missing later.
  SharedMemory(const char* name, std::size_t bytes, bool populate);

  [[nodiscard]] AddressRange range() const { return range_; }
  [[nodiscard]] std::uint64_t populated_bytes() const;

 private:
  UniqueFd fd_;
  AddressRange range_;  ///< mapped until the program ends
};

/// Allocates a block with calloc, and returns it from its first boundary of 2 MiB on, so that it can have huge pages.
/// Throws std::runtime_error.
AddressRange private_array(std::size_t bytes);

/// Allocates an array like `new std::array<…>()`: a block of operator new, filled with zeros, that begins where the
/// allocator puts it. Throws std::bad_alloc.
AddressRange value_initialised_array(std::size_t bytes);

/// Data that the process and its child exchange. The data is in shared memory, never in a heap.
struct Control {
  std::atomic<std::uint64_t> batches_done = 0;
  std::atomic<std::uint32_t> writers_running = 0;
  std::atomic<std::int64_t> complete_ns = 0;  ///< time at which the last batch was copied, CLOCK_MONOTONIC
  std::atomic<pid_t> child = 0;
  std::atomic<std::uint64_t> unmapped = 0;        ///< number of batches that the child has unmapped
  std::atomic<std::uint64_t> memory_samples = 0;  ///< number of samples that were finished while the alternative worked
  std::atomic<int> unmap_error = 0;               ///< errno of a batch that the child could not unmap
  // Results that only the child can see:
  std::atomic<std::uint64_t> checked = 0;
  std::atomic<std::uint64_t> wrong = 0;
  std::atomic<std::uint64_t> first_wrong = 0;
  std::int64_t child_user_ns = 0;  ///< CPU time of the child, as the kernel reports it after waiting for the child
  std::int64_t child_system_ns = 0;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "two processes share Control");

/// The memory and parameters that an alternative works with.
struct Job {
  Parameters parameters;
  AddressRange array;
  unsigned char* copy = nullptr;  ///< destination of the snapshot, of the array's size
  Control* control = nullptr;
  /// A function that each writer calls before it writes to a page; null if there is none. Set the function only in
  /// prepare().
  void (*before_write)(void* context, std::uint64_t page) = nullptr;
  void* context = nullptr;

  [[nodiscard]] unsigned char* at(std::uint64_t offset) const {
    return reinterpret_cast<unsigned char*>(array.begin) + offset;  // NOLINT(performance-no-int-to-ptr)
  }
};

}  // namespace zerotax::snapshot
