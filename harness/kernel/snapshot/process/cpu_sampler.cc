#include "snapshot/process/cpu_sampler.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "os/clock.h"
#include "os/unique_fd.h"

namespace snapshot {
namespace {

constexpr std::chrono::milliseconds kPause{5};
constexpr std::size_t kMostSamples = std::size_t{1} << 16;  // five minutes

/// Fields 14 and 15 of /proc/PID/stat: utime and stime, in clock ticks (proc(5)). Leaves the sample as it is if the
/// process is gone.
void read_child(int pid, CpuSample& sample) {
  // No stream: at the fork no thread of ours may hold the allocator's lock.
  char path[64];
  std::snprintf(&path[0], sizeof path, "/proc/%d/stat", pid);
  const zerotax::UniqueFd file(::open(&path[0], O_RDONLY | O_CLOEXEC));
  char text[1024]{};
  if (!file || ::read(file.get(), &text[0], sizeof text - 1) <= 0) return;
  const char* after_name = std::strrchr(&text[0], ')');
  unsigned long long user = 0;
  unsigned long long system = 0;
  if (after_name == nullptr ||
      std::sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2) {
    return;
  }
  const std::int64_t tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  sample.child_user_ns = static_cast<std::int64_t>(user) * tick_ns;
  sample.child_system_ns = static_cast<std::int64_t>(system) * tick_ns;
}

}  // namespace

CpuSampler::CpuSampler(std::function<int()> child) : child_(std::move(child)) {
  samples_.reserve(kMostSamples);
  sample();
  thread_ = std::thread([this] {
    while (!done_ && samples_.size() + 1 < kMostSamples) {
      sample();
      std::this_thread::sleep_for(kPause);
    }
  });
}

void CpuSampler::finish() {
  if (!thread_.joinable()) return;
  done_ = true;
  thread_.join();
  sample();
}

void CpuSampler::sample() {
  CpuSample now;
  if (!samples_.empty()) now = samples_.back();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  now.at_ns = zerotax::monotonic_ns();
  now.user_ns = zerotax::in_ns(usage.ru_utime);
  now.system_ns = zerotax::in_ns(usage.ru_stime);
  if (const int child = child_(); child > 0) read_child(child, now);
  samples_.push_back(now);
}

std::vector<CpuSample> CpuSampler::samples(std::size_t most) const {
  if (samples_.size() <= most) return samples_;
  std::vector<CpuSample> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(samples_[i * (samples_.size() - 1) / (most - 1)]);
  return chosen;
}

}  // namespace snapshot
