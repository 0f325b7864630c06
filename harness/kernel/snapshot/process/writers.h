#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "os/thread_usage.h"
#include "snapshot/process/control.h"

namespace snapshot {

/// Where a writer stands: `page` and all behind it are still to be written in this pass.
struct Position {
  std::uint64_t pass = 0;
  std::uint64_t page = 0;
};

/// The threads that write to the array: of N writers the first has the elements 0, N, 2 N and so on, as in the
/// benchmark that this case is of. In the middle of the first pass they stop for the snapshot, if they are to.
class Writers {
 public:
  Writers(const Job& job, bool stop);
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
  [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }  ///< CLOCK_MONOTONIC
  [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }      ///< of the last one
  [[nodiscard]] std::int64_t user_ns() const { return user_ns_; }    ///< CPU time of all together
  [[nodiscard]] std::int64_t system_ns() const { return system_ns_; }
  /// Of all together, from when each went on to its end.
  [[nodiscard]] const zerotax::ThreadUsage& resumed() const { return resumed_; }

 private:
  void work(unsigned number);
  void stop(unsigned number, Position position);

  const Job& job_;
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
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::int64_t user_ns_ = 0;
  std::int64_t system_ns_ = 0;
  zerotax::ThreadUsage resumed_;
};

}  // namespace snapshot
