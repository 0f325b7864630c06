#include "os/rated_events.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "os/clock.h"

namespace zerotax {
namespace {

/// Samples a second that make the next period the longer, or the shorter one; and how soon.
constexpr std::uint64_t kTooMany = 1500;
constexpr std::uint64_t kTooFew = 100;
constexpr std::int64_t kSoonNs = 100'000'000;

}  // namespace

void RatedEvents::adapt() {
  const std::int64_t now = monotonic_ns();
  if (adapted_ns_ == 0) adapted_ns_ = now;
  const auto passed = static_cast<std::uint64_t>(std::max(now - adapted_ns_, kSoonNs));
  const std::uint64_t rate = samples_ * 1'000'000'000 / passed;
  std::size_t wanted = level_;
  if (rate > kTooMany && level_ + 1 < periods_.size()) {
    ++wanted;
  } else if (now < adapted_ns_ + kSoonNs) {
    return;
  } else if (rate < kTooFew && level_ > 0) {
    --wanted;
  }
  adapted_ns_ = now;
  samples_ = 0;
  if (wanted == level_) return;
  for (const auto& [fd, level] : fds_) {
    if (level == wanted) ::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  }
  for (const auto& [fd, level] : fds_) {
    if (level == level_) ::ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  }
  level_ = wanted;
}

void RatedEvents::clear() {
  fds_.clear();
  level_ = first_;
}

std::uint64_t RatedEvents::count() const {
  std::uint64_t sum = 0;
  for (const auto& [fd, level] : fds_) {
    std::uint64_t count = 0;  // with those of the threads that inherited the event
    if (::read(fd, &count, sizeof count) == sizeof count) sum += count;
  }
  return sum;
}

}  // namespace zerotax
