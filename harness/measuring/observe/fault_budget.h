#pragma once

#include <cstdint>
#include <random>

namespace zerotax {

/// Decides when faults are recorded one by one. Recording a fault costs the program as much as the fault itself, so
/// that many of them are recorded in windows: some hundred faults at random moments. In between they are counted only.
/// Times are in nanoseconds. No system call.
class FaultBudget {
 public:
  /// When something is asked.
  struct Now {
    std::uint64_t ns;      ///< CLOCK_MONOTONIC
    std::uint64_t cpu_ns;  ///< that the program has used, of all its processes
  };

  /// Faults that are recorded in a second of the program's CPU time at most. One of these costs it some 0.7 to 3 us, so
  /// that it is held up for 1 to 3 % of that time.
  static constexpr double kPerSecond = 10'000;
  /// Faults that are recorded before the rate limits recording. All faults of a short program are recorded, because few
  /// windows say little about it. These faults cost a program at most one second, once.
  static constexpr double kAtOnce = 1'000'000;
  /// Seconds of CPU time in a second that count: somebody has to read what is recorded.
  static constexpr std::uint64_t kMostCpus = 3;
  /// A window's, on average; fewer where the budget is small.
  static constexpr double kWindow = 500;
  /// The time spent on opening a window, at most so often: one part in so many.
  static constexpr std::uint64_t kShare = 20;

  explicit FaultBudget(std::uint64_t seed, double per_second = kPerSecond, double at_once = kAtOnce)
      : random_(seed), per_second_(per_second), at_once_(at_once), left_(at_once) {}
  /// A budget of kPerSecond and kAtOnce. ZEROTAX_FAULTS_PER_SECOND in the environment replaces kPerSecond, and 2.4
  /// times its value replaces kAtOnce. A low value samples even few faults, a high one records many.
  static FaultBudget chosen(std::uint64_t seed);

  /// So many more were recorded. False: it is enough for a while.
  bool spend(std::uint64_t faults, Now now);
  /// Recording has ended.
  void close(Now now);
  /// Whether it is time to begin again.
  bool may_open(Now now);
  /// Recording has begun, which took so long.
  void open(std::uint64_t took_ns) { opening_ns_ = took_ns; }
  /// Whether little is left.
  [[nodiscard]] bool is_low() const { return left_ < per_second_ / 5; }

 private:
  void refill(Now now);

  std::mt19937_64 random_;
  double per_second_;
  double at_once_;
  double left_;
  double wanted_ = 0;  ///< before the next window
  Now refilled_{0, 0};
  std::uint64_t closed_ns_ = 0;
  std::uint64_t opening_ns_ = 0;
};

/// Hands out a number in whole parts, as equal as they can be, that add up to it.
class Shares {
 public:
  Shares() = default;
  Shares(std::uint64_t all, std::uint64_t parts) : all_(all), parts_(parts) {}
  /// The next part; 1 after the last one, and where there was nothing to share.
  std::uint64_t next();

 private:
  std::uint64_t all_ = 0;
  std::uint64_t parts_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t handed_out_ = 0;
};

}  // namespace zerotax
