#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "snapshot/process/job.h"
#include "snapshot/process/run_block.h"

namespace zerotax::snapshot {

using Element = std::uint64_t;

/// The content of an element after `generation` writes. The content differs for each element and generation, so that
/// late, torn or misplaced copies are detected.
constexpr Element value(std::uint64_t index, std::uint64_t generation) {
  return (generation + 1) * 0x9E3779B97F4A7C15 ^ index;
}

/// The progress of a writer. In pass number `pass`, the writer has still to write `page` and all pages after it.
struct Position {
  std::uint64_t pass = 0;
  std::uint64_t page = 0;
};

/// The threads that write to the array. Of N writers, the first has the elements 0, N, 2 N and so on, as in the
/// published benchmark. With `stop`, all writers stop for the snapshot in the middle of the first pass.
class Writers {
 public:
  /// The writers add their times, faults and CPU time to `metrics`.
  Writers(const Job& job, RunMetrics& metrics, bool stop);
  ~Writers() { join(); }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  /// Creates the threads, which start together.
  void start();
  /// Returns when all writers are paused.
  void wait_for_stop();
  void go_on();
  /// Waits for the end of the writers.
  void join();

  /// The position of each writer while all writers were paused.
  [[nodiscard]] const std::vector<Position>& positions() const { return positions_; }

 private:
  void work(unsigned number);
  void stop(unsigned number, Position position);

  const Job& job_;
  RunMetrics& metrics_;  // guarded by the mutex
  const bool stops_;
  std::vector<std::thread> threads_;
  std::vector<Position> positions_;
  std::atomic<bool> stop_wanted_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned ready_ = 0;  // the mutex guards this and the following members
  unsigned stopped_ = 0;
  bool started_ = false;
  bool released_ = false;
};

/// Fills the array with its first generation.
void fill(const Job& job);

/// Compares each element of the snapshot with its value at the writers' `positions`.
void verify(const Job& job, const std::vector<Position>& positions, RunMetrics& metrics);

}  // namespace zerotax::snapshot
