#include "snapshot/process/memory_sampler.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "os/unique_fd.h"

namespace snapshot {
namespace {

constexpr std::chrono::milliseconds kPause{2};

}  // namespace

std::uint64_t anonymous_pss(int pid) {
  // No stream: at the fork no thread of ours may hold the allocator's lock.
  char path[64];
  std::snprintf(&path[0], sizeof path, "/proc/%d/smaps_rollup", pid);
  const zerotax::UniqueFd file(::open(&path[0], O_RDONLY | O_CLOEXEC));
  char text[2048]{};
  if (!file || ::read(file.get(), &text[0], sizeof text - 1) <= 0) return 0;
  const char* line = std::strstr(&text[0], "Pss_Anon:");
  return line == nullptr ? 0 : std::strtoull(line + std::strlen("Pss_Anon:"), nullptr, 10) * 1024;
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
      std::this_thread::sleep_for(kPause);
    }
  });
}

void wait_for_sample(const std::atomic<std::uint64_t>& samples) {
  // The next that is finished may have begun before.
  const std::uint64_t enough = samples + 2;
  while (samples < enough) std::this_thread::sleep_for(kPause);
}

void MemorySampler::finish() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

std::uint64_t MemorySampler::sample() const {
  const int child = child_();
  return anonymous_pss(::getpid()) + (child > 0 ? anonymous_pss(child) : 0) + shared_bytes_();
}

}  // namespace snapshot
