#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace snapshot {

/// Who copies which unit of the array, where several threads may want to: the first that claims it.
class Claims {
 public:
  explicit Claims(std::uint64_t units) : states_(std::make_unique<std::atomic<std::uint8_t>[]>(units)) {}

  /// Whether it is the caller's to copy now.
  bool claim(std::uint64_t unit) {
    std::uint8_t expected = kToDo;
    return states_[unit].load(std::memory_order_relaxed) == kToDo &&
           states_[unit].compare_exchange_strong(expected, kClaimed);
  }
  void done(std::uint64_t unit) { states_[unit].store(kDone, std::memory_order_release); }
  [[nodiscard]] bool is_done(std::uint64_t unit) const {
    return states_[unit].load(std::memory_order_acquire) == kDone;
  }
  /// Until another thread has copied what it claimed.
  void wait(std::uint64_t unit) const {
    while (!is_done(unit)) std::this_thread::yield();
  }

 private:
  static constexpr std::uint8_t kToDo = 0;
  static constexpr std::uint8_t kClaimed = 1;
  static constexpr std::uint8_t kDone = 2;
  std::unique_ptr<std::atomic<std::uint8_t>[]> states_;
};

}  // namespace snapshot
