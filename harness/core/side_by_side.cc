#include "core/side_by_side.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace zerotax {

void run_side_by_side(std::size_t tasks, std::size_t workers, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex failure_lock;
  std::exception_ptr failure;
  const auto worker = [&] {
    for (std::size_t i = next++; i < tasks; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(failure_lock);
        if (!failure) failure = std::current_exception();
        next = tasks;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < workers && i < tasks; ++i) threads.emplace_back(worker);
    } catch (const std::system_error&) {
      // No further thread is allowed here: fewer will do.
    }
    worker();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace zerotax
