#pragma once

#include <exception>
#include <memory>
#include <thread>
#include <utility>

namespace zerotax {

/// A thread of ours. An exception, for example for lack of memory, ends only the work that threw it. join() rethrows it
/// in a thread that can report it.
class Worker {
 public:
  Worker() = default;
  template <typename Work>
  explicit Worker(Work work) : failure_(std::make_unique<std::exception_ptr>()) {
    thread_ = std::thread([work = std::move(work), failure = failure_.get()]() mutable {
      try {
        work();
      } catch (...) {
        *failure = std::current_exception();
      }
    });
  }
  Worker(Worker&&) = default;
  Worker& operator=(Worker&&) = default;
  ~Worker() { wait(); }

  [[nodiscard]] bool joinable() const { return thread_.joinable(); }
  /// Waits for the end of the work.
  void wait() {
    if (thread_.joinable()) thread_.join();
  }
  /// Waits for the end of the work, and rethrows its exception, once.
  void join() {
    wait();
    if (failure_ && *failure_) std::rethrow_exception(std::exchange(*failure_, nullptr));
  }

 private:
  std::unique_ptr<std::exception_ptr> failure_;
  std::thread thread_;
};

}  // namespace zerotax
