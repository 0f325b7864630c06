#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "snapshot/process/job.h"

namespace zerotax::snapshot {

/// A part of the array. The offset is in bytes from the beginning of the array.
struct Batch {
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// Copies a part of the array to the same offset of the destination.
void copy_bytes(const Job& job, Batch part);

/// The threads that copy the snapshot batch by batch. Of N threads, the first takes batches 0, N, 2 N and so on. The
/// threads count the batches, observe the hold, and report when all batches are done.
class Checkpointers {
 public:
  using Take = std::function<void(Batch)>;
  /// `take` copies one batch and does the work that follows.
  Checkpointers(const Job& job, Take take);
  ~Checkpointers() { join(); }
  Checkpointers(const Checkpointers&) = delete;
  Checkpointers& operator=(const Checkpointers&) = delete;
  void join();

 private:
  void work(unsigned first);

  const Job& job_;
  Take take_;
  std::vector<std::thread> threads_;
};

/// Waits until the function returns true. Uses almost no CPU time.
void wait_until(const std::function<bool()>& is_so);

/// Assigns units of the array to threads. The first thread that claims a unit copies it; other threads do not.
class Claims {
 public:
  explicit Claims(std::uint64_t units) : states_(std::make_unique<std::atomic<std::uint8_t>[]>(units)) {}

  /// Claims a unit. Returns whether the caller must copy the unit now.
  bool claim(std::uint64_t unit) {
    std::uint8_t expected = kToDo;
    return states_[unit].load(std::memory_order_relaxed) == kToDo &&
           states_[unit].compare_exchange_strong(expected, kClaimed);
  }
  void done(std::uint64_t unit) { states_[unit].store(kDone, std::memory_order_release); }
  [[nodiscard]] bool is_done(std::uint64_t unit) const {
    return states_[unit].load(std::memory_order_acquire) == kDone;
  }
  /// Waits until another thread has copied the unit that it claimed.
  void wait(std::uint64_t unit) const {
    while (!is_done(unit)) std::this_thread::yield();
  }

 private:
  static constexpr std::uint8_t kToDo = 0;
  static constexpr std::uint8_t kClaimed = 1;
  static constexpr std::uint8_t kDone = 2;
  std::unique_ptr<std::atomic<std::uint8_t>[]> states_;
};

/// Makes all pages of a range writable with one call (MADV_POPULATE_WRITE, since Linux 5.14). Returns whether the call
/// succeeded.
bool populate_for_writing(void* begin, std::uint64_t bytes);

/// Faults that the kernel counted for the calling thread in calls to populate_for_writing, although no exception was
/// taken.
std::int64_t faults_of_populating();

/// Tries `works` on new memory of `bytes` bytes, which begins at a multiple of `bytes`. Returns the error, which begins
/// with `what`; empty if `works` succeeds.
std::string why_not_on_memory(std::size_t bytes, const std::string& what, const std::function<bool(void*)>& works);

/// The reason why the kernel lacks MADV_POPULATE_WRITE; empty if the kernel has it.
std::string why_no_populating();

}  // namespace zerotax::snapshot
