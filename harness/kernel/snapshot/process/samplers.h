#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "snapshot/process/run_block.h"

namespace zerotax::snapshot {

/// Samples the CPU time of this process and its child every few milliseconds, in a thread of its own, as a monitor such
/// as htop does. Uses getrusage(2) for this process, and /proc/PID/stat, in units of 10 ms, for the child.
class CpuSampler {
 public:
  /// `child` is called for each sample, and returns the child's PID, or 0.
  explicit CpuSampler(std::function<int()> child);
  ~CpuSampler() { join(); }
  CpuSampler(const CpuSampler&) = delete;
  CpuSampler& operator=(const CpuSampler&) = delete;
  /// Takes a last sample and copies the samples to the block. If the block has too little room, only samples at even
  /// distances are copied, including the first and the last.
  void finish(RunBlock& block);

 private:
  void sample();
  void join();

  std::function<int()> child_;
  std::vector<CpuInterval> samples_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

/// Samples the memory of this process and its child together, in a thread of its own. The sum has the anonymous part of
/// both processes' PSS (/proc/PID/smaps_rollup), in which no page counts twice, and shared memory by the kernel's own
/// count. Page tables and file pages are not included. Reading walks the page tables and slows down page faults, so a
/// run with this sampler gives no times.
class MemorySampler {
 public:
  /// `child` and `shared_bytes` are called for each sample. `samples` counts the finished samples.
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

/// Called by a child that is about to end. Waits until a sample that started after the call is complete, so that the
/// peak is not missed.
void wait_for_sample(const std::atomic<std::uint64_t>& samples);

}  // namespace zerotax::snapshot
