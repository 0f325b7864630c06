#pragma once

#include <semaphore.h>

#include "hostile.h"

namespace planted {

/// A thread that clears blocks for its caller.
class HelperThread {
 public:
  explicit constexpr HelperThread(void (*clear)(char* block, std::size_t bytes)) : clear_(clear) {}

  /// Starts the thread in the first call, because a thread started in a constructor might be older than the meter.
  void start() {
    if (started_) return;
    started_ = true;
    ::sem_init(&wanted_, 0, 0);
    ::sem_init(&done_, 0, 0);
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, work, this);
  }
  void begin(char* block, std::size_t bytes) {
    target_ = block;
    bytes_ = bytes;
    ::sem_post(&wanted_);
  }
  void wait() { ::sem_wait(&done_); }
  [[nodiscard]] const char* target() const { return target_; }

 private:
  static void* work(void* self) {
    auto& helper = *static_cast<HelperThread*>(self);
    for (;;) {
      ::sem_wait(&helper.wanted_);
      helper.clear_(helper.target_, helper.bytes_);
      ::sem_post(&helper.done_);
    }
  }

  void (*clear_)(char* block, std::size_t bytes);
  bool started_ = false;
  sem_t wanted_{};
  sem_t done_{};
  char* target_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace planted
