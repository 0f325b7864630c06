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

/// What an element holds after it was written `generation` times: of each element and generation another one, so that a
/// copy that is late, torn or of another place is found.
constexpr Element value(std::uint64_t index, std::uint64_t generation) {
  return (generation + 1) * 0x9E3779B97F4A7C15 ^ index;
}

/// Where a writer stands: `page` and all behind it are still to be written in this pass.
struct Position {
  std::uint64_t pass = 0;
  std::uint64_t page = 0;
};

/// The threads that write to the array: of N writers the first has the elements 0, N, 2 N and so on, as in the
/// benchmark that this case is of. In the middle of the first pass they stop for the snapshot, if they are to.
class Writers {
 public:
  /// The writers add their times, faults and CPU time to `metrics`.
  Writers(const Job& job, RunMetrics& metrics, bool stop);
  ~Writers() { join(); }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  /// Creates the threads; they begin together.
  void start();
  /// Returns when each stands still.
  void wait_for_stop();
  void go_on();
  /// To their end.
  void join();

  /// Of each when they stood still.
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
  unsigned ready_ = 0;  // these are guarded by the mutex
  unsigned stopped_ = 0;
  bool started_ = false;
  bool released_ = false;
};

/// Fills the array with its first generation.
void fill(const Job& job);

/// Compares each element of the snapshot with the value that it had when the writers stood at `positions`.
void verify(const Job& job, const std::vector<Position>& positions, RunMetrics& metrics);

}  // namespace zerotax::snapshot
