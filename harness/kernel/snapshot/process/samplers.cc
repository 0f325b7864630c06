#include "snapshot/process/samplers.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "os/clock.h"
#include "os/process_stat.h"
#include "os/unique_fd.h"

namespace zerotax::snapshot {
namespace {

constexpr std::chrono::milliseconds kCpuPause{5};
constexpr std::size_t kMostSamples = std::size_t{1} << 16;  // enough for five minutes

/// Reads the child's times from /proc/PID/stat. Leaves the sample unchanged if the process is gone.
void read_child(int pid, CpuInterval& sample) {
  // Streams would allocate, but no thread may hold the allocator's lock when the program forks.
  char path[64];
  std::snprintf(&path[0], sizeof path, "/proc/%d/stat", pid);
  const UniqueFd file(::open(&path[0], O_RDONLY | O_CLOEXEC));
  char text[1024]{};
  const ssize_t length = file ? ::read(file.get(), &text[0], sizeof text) : -1;
  if (length <= 0) return;
  const auto stat = parse_process_stat({&text[0], static_cast<std::size_t>(length)});
  if (!stat) return;
  sample.child_user_ns = static_cast<std::int64_t>(stat->user_ticks) * tick_ns();
  sample.child_system_ns = static_cast<std::int64_t>(stat->system_ticks) * tick_ns();
}

constexpr std::chrono::milliseconds kMemoryPause{2};

/// Bytes of one process; 0 if the process is gone, or if the kernel does not report them (before Linux 5.4).
std::uint64_t anonymous_pss(int pid) {
  // Streams would allocate, but no thread may hold the allocator's lock when the program forks.
  char path[64];
  std::snprintf(&path[0], sizeof path, "/proc/%d/smaps_rollup", pid);
  const UniqueFd file(::open(&path[0], O_RDONLY | O_CLOEXEC));
  char text[2048]{};
  if (!file || ::read(file.get(), &text[0], sizeof text - 1) <= 0) return 0;
  const char* line = std::strstr(&text[0], "Pss_Anon:");
  return line == nullptr ? 0 : std::strtoull(line + std::strlen("Pss_Anon:"), nullptr, 10) * 1024;
}

}  // namespace

CpuSampler::CpuSampler(std::function<int()> child) : child_(std::move(child)) {
  samples_.reserve(kMostSamples);
  sample();
  thread_ = std::thread([this] {
    while (!done_ && samples_.size() + 1 < kMostSamples) {
      sample();
      std::this_thread::sleep_for(kCpuPause);
    }
  });
}

void CpuSampler::join() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

void CpuSampler::finish(RunBlock& block) {
  join();
  sample();
  const std::size_t all = samples_.size();
  block.cpu_samples = static_cast<std::uint32_t>(std::min<std::size_t>(all, RunBlock::kMostSamples));
  for (std::size_t i = 0; i < block.cpu_samples; ++i) block.cpu[i] = samples_[i * (all - 1) / (block.cpu_samples - 1)];
}

void CpuSampler::sample() {
  CpuInterval now;
  if (!samples_.empty()) now = samples_.back();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  now.end_ns = monotonic_ns();
  now.user_ns = in_ns(usage.ru_utime);
  now.system_ns = in_ns(usage.ru_stime);
  if (const int child = child_(); child > 0) read_child(child, now);
  samples_.push_back(now);
}

MemorySampler::MemorySampler(std::function<int()> child, std::function<std::uint64_t()> shared_bytes,
                             std::atomic<std::uint64_t>& samples)
    : child_(std::move(child)),
      shared_bytes_(std::move(shared_bytes)),
      first_(sample()),
      peak_(first_),
      samples_(samples) {
  thread_ = std::thread([this] {
    while (!done_) {
      peak_ = std::max(peak_, sample());
      ++samples_;
      std::this_thread::sleep_for(kMemoryPause);
    }
  });
}

void wait_for_sample(const std::atomic<std::uint64_t>& samples) {
  // The next sample to finish may have started before the call, so two are needed.
  const std::uint64_t enough = samples + 2;
  while (samples < enough) std::this_thread::sleep_for(kMemoryPause);
}

void MemorySampler::join() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

void MemorySampler::finish(RunMetrics& metrics) {
  join();
  metrics.first_bytes = static_cast<std::int64_t>(first_);
  metrics.peak_bytes = static_cast<std::int64_t>(peak_);
  metrics.memory_samples = static_cast<std::int64_t>(samples_.load());
}

std::uint64_t MemorySampler::sample() const {
  const int child = child_();
  return anonymous_pss(::getpid()) + (child > 0 ? anonymous_pss(child) : 0) + shared_bytes_();
}

}  // namespace zerotax::snapshot
