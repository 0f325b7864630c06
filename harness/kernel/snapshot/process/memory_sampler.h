#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace snapshot {

/// Memory of this process and a child together, in a thread of its own: the anonymous part of PSS of both
/// (/proc/PID/smaps_rollup), which counts no page twice, and shared memory by the kernel's own count. Page tables and
/// file pages are not in it. Reading walks the page tables and slows page faults down: no times meanwhile.
class MemorySampler {
 public:
  /// `child` and `shared_bytes` are asked at each sample, and the finished ones are counted in `samples`.
  MemorySampler(std::function<int()> child, std::function<std::uint64_t()> shared_bytes,
                std::atomic<std::uint64_t>& samples);
  ~MemorySampler() { finish(); }
  MemorySampler(const MemorySampler&) = delete;
  MemorySampler& operator=(const MemorySampler&) = delete;
  void finish();

  [[nodiscard]] std::uint64_t first_bytes() const { return first_; }
  [[nodiscard]] std::uint64_t peak_bytes() const { return peak_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_.load(); }

 private:
  [[nodiscard]] std::uint64_t sample() const;

  std::function<int()> child_;
  std::function<std::uint64_t()> shared_bytes_;
  std::uint64_t first_ = 0;
  std::uint64_t peak_ = 0;
  std::atomic<std::uint64_t>& samples_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

/// For a child that is about to end: waits until a sample was taken while it waited, or the peak would be missed.
void wait_for_sample(const std::atomic<std::uint64_t>& samples);

/// Bytes of one process, or 0 if it is gone or the kernel does not report it (Linux 5.4).
std::uint64_t anonymous_pss(int pid);

}  // namespace snapshot
