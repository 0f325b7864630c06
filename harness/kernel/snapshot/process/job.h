#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "os/page.h"
#include "os/unique_fd.h"

namespace zerotax::snapshot {

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
  int result = -1;                    ///< the file that the RunBlock is written to

  [[nodiscard]] std::uint64_t pages() const { return array_bytes / page_bytes(); }
  [[nodiscard]] std::uint64_t batches() const { return (array_bytes + batch_bytes - 1) / batch_bytes; }
  /// How many batches are copied before the writers resume, and how many may be: both unlimited without a hold.
  [[nodiscard]] std::uint64_t held_batches() const;
};

/// From words KEY=VALUE. Throws std::invalid_argument with a line for people.
Parameters parse_parameters(int count, char** words);

/// Memory that is shared across a fork, and whose populated size the kernel reports. Throws std::runtime_error.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// `populate`: all of it now, so that nobody finds a page missing later.
  SharedMemory(const char* name, std::size_t bytes, bool populate);

  [[nodiscard]] AddressRange range() const { return range_; }
  [[nodiscard]] std::uint64_t populated_bytes() const;

 private:
  UniqueFd fd_;
  AddressRange range_;  ///< until the program's end
};

/// A block of calloc, from the first boundary of 2 MiB in it on, so that huge pages could lie there. Throws
/// std::runtime_error.
AddressRange private_array(std::size_t bytes);

/// What `new std::array<…>()` gives: a block of operator new that was then filled with zeros, beginning wherever the
/// allocator puts it. Throws std::bad_alloc.
AddressRange value_initialised_array(std::size_t bytes);

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
  AddressRange array;
  unsigned char* copy = nullptr;  ///< where the snapshot goes: memory of the array's size
  Control* control = nullptr;
  /// Called by a writer before it writes to a page, if it is set; set it in prepare() only.
  void (*before_write)(void* context, std::uint64_t page) = nullptr;
  void* context = nullptr;

  [[nodiscard]] unsigned char* at(std::uint64_t offset) const {
    return reinterpret_cast<unsigned char*>(array.begin) + offset;  // NOLINT(performance-no-int-to-ptr)
  }
};

}  // namespace zerotax::snapshot
