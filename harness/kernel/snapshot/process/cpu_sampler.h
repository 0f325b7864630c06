#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace snapshot {

/// CPU time that was used so far, in nanoseconds.
struct CpuSample {
  std::int64_t at_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t child_user_ns = 0;
  std::int64_t child_system_ns = 0;
};

/// CPU time of this process and of a child every few milliseconds, in a thread of its own, as a monitor such as htop
/// sees it: this process by getrusage(2); the child by /proc/PID/stat, whose unit is 10 ms.
class CpuSampler {
 public:
  /// `child` is asked at each sample: its PID, or 0.
  explicit CpuSampler(std::function<int()> child);
  ~CpuSampler() { finish(); }
  CpuSampler(const CpuSampler&) = delete;
  CpuSampler& operator=(const CpuSampler&) = delete;
  /// Takes a last sample.
  void finish();

  /// At most so many, evenly distributed, the first and the last among them.
  [[nodiscard]] std::vector<CpuSample> samples(std::size_t most) const;

 private:
  void sample();

  std::function<int()> child_;
  std::vector<CpuSample> samples_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace snapshot
