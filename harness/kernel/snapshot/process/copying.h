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

/// A part of the array, in bytes from its beginning.
struct Batch {
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// Copies a part of the array, unchanged.
void copy_bytes(const Job& job, Batch part);

/// The threads that make the snapshot, batch by batch, the first of N taking the batches 0, N, 2 N and so on. Counts
/// the batches, keeps the hold, and reports when all are done.
class Checkpointers {
 public:
  using Take = std::function<void(Batch)>;
  /// `take` copies one batch, and does what is to be done with it afterwards.
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

/// Waits, with almost no CPU time, until the function returns true.
void wait_until(const std::function<bool()>& is_so);

/// Who copies which unit of the array, where several threads may want to: the first that claims it.
class Claims {
 public:
  explicit Claims(std::uint64_t units) : states_(std::make_unique<std::atomic<std::uint8_t>[]>(units)) {}

  /// Whether it is the caller's to copy now.
  bool claim(std::uint64_t unit) {
    std::uint8_t expected = kToDo;
    return states_[unit].load(std::memory_order_relaxed) == kToDo &&
           states_[unit].compare_exchange_strong(expected, kClaimed);
  }
  void done(std::uint64_t unit) { states_[unit].store(kDone, std::memory_order_release); }
  [[nodiscard]] bool is_done(std::uint64_t unit) const {
    return states_[unit].load(std::memory_order_acquire) == kDone;
  }
  /// Until another thread has copied what it claimed.
  void wait(std::uint64_t unit) const {
    while (!is_done(unit)) std::this_thread::yield();
  }

 private:
  static constexpr std::uint8_t kToDo = 0;
  static constexpr std::uint8_t kClaimed = 1;
  static constexpr std::uint8_t kDone = 2;
  std::unique_ptr<std::atomic<std::uint8_t>[]> states_;
};

/// Lets one call make writable all pages of a range (MADV_POPULATE_WRITE, Linux 5.14). Returns whether it did.
bool populate_for_writing(void* begin, std::uint64_t bytes);

/// Faults that the kernel counted for the calling thread in those calls, though no exception was taken.
std::int64_t faults_of_populating();

/// Why something does not work on so many bytes of new memory, which begin at a multiple of so many; empty if it works.
/// `what`: stands before the error.
std::string why_not_on_memory(std::size_t bytes, const std::string& what, const std::function<bool(void*)>& works);

/// Why the kernel does not do that; empty if it does.
std::string why_no_populating();

}  // namespace zerotax::snapshot
