#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zerotax {

/// Perf events of one kind, of which some hundred samples a second are taken, however many there are: one in a period,
/// and which period, follows from how many came. (The kernel's own adapting, attr.freq, is of no use for software
/// events and tracepoints: after a burst it takes no more samples for long.)
class RatedEvents {
 public:
  /// `periods`: primes, so that no loop of a program is sampled at the same place each time; `first`: the index of the
  /// one to begin with.
  RatedEvents(std::vector<std::uint64_t> periods, std::size_t first)
      : periods_(std::move(periods)), first_(first), level_(first) {}

  [[nodiscard]] const std::vector<std::uint64_t>& periods() const { return periods_; }
  /// Whether an event with this period is switched on.
  [[nodiscard]] bool is_on(std::size_t level) const { return level == level_; }

  /// An event with the period of this index, opened switched on or off as is_on() says.
  void add(int fd, std::size_t level) { fds_.emplace_back(fd, level); }
  void took_sample() { ++samples_; }
  /// Often: switches to the next period if there were too many samples since the last time, or too few.
  void adapt();
  void clear();

  [[nodiscard]] bool empty() const { return fds_.empty(); }
  /// Events so far, sampled or not.
  [[nodiscard]] std::uint64_t count() const;

 private:
  std::vector<std::uint64_t> periods_;
  std::size_t first_;
  std::size_t level_;
  std::vector<std::pair<int, std::size_t>> fds_;  ///< with the index of their period
  std::uint64_t samples_ = 0;
  std::int64_t adapted_ns_ = 0;
};

}  // namespace zerotax
