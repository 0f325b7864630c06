#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "snapshot/process/run_block.h"

namespace zerotax::snapshot {

/// CPU time of this process and of a child every few milliseconds, in a thread of its own, as a monitor such as htop
/// sees it: this process by getrusage(2); the child by /proc/PID/stat, whose unit is 10 ms.
class CpuSampler {
 public:
  /// `child` is asked at each sample: its PID, or 0.
  explicit CpuSampler(std::function<int()> child);
  ~CpuSampler() { join(); }
  CpuSampler(const CpuSampler&) = delete;
  CpuSampler& operator=(const CpuSampler&) = delete;
  /// Takes a last sample, and copies the samples to the block. If the block has too little room for all, it gets
  /// samples at even distances, including the first and the last.
  void finish(RunBlock& block);

 private:
  void sample();
  void join();

  std::function<int()> child_;
  std::vector<CpuInterval> samples_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

/// Memory of this process and a child together, in a thread of its own: the anonymous part of PSS of both
/// (/proc/PID/smaps_rollup), which counts no page twice, and shared memory by the kernel's own count. Page tables and
/// file pages are not in it. Reading walks the page tables and slows page faults down: no times meanwhile.
class MemorySampler {
 public:
  /// `child` and `shared_bytes` are asked at each sample, and the finished ones are counted in `samples`.
  MemorySampler(std::function<int()> child, std::function<std::uint64_t()> shared_bytes,
                std::atomic<std::uint64_t>& samples);
  ~MemorySampler() { join(); }
  MemorySampler(const MemorySampler&) = delete;
  MemorySampler& operator=(const MemorySampler&) = delete;
  void finish(RunMetrics& metrics);

 private:
  void join();
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

}  // namespace zerotax::snapshot
