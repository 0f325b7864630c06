#include "snapshot/process/writers.h"

#include <algorithm>

#include "os/clock.h"
#include "os/faults.h"

namespace zerotax::snapshot {
namespace {

/// Writes the writer's elements of a page. This is a separate function, so that profiles show its name.
[[gnu::noinline]] void write_page(Element* array, std::uint64_t page, unsigned number, unsigned writers,
                                  std::uint64_t generation) {
  const std::uint64_t elements = page_bytes() / sizeof(Element);
  const std::uint64_t begin = page * elements;
  const std::uint64_t first = begin + (number + writers - begin % writers) % writers;
  for (std::uint64_t i = first; i < begin + elements; i += writers) {
    // volatile keeps each store separate, as if something were computed in between.
    static_cast<volatile Element*>(array)[i] = value(i, generation);
  }
}

}  // namespace

Writers::Writers(const Job& job, RunMetrics& metrics, bool stop)
    : job_(job), metrics_(metrics), stops_(stop), positions_(job.parameters.writers) {
  job_.control->writers_running = job_.parameters.writers;
}

void Writers::start() {
  for (unsigned i = 0; i < job_.parameters.writers; ++i) threads_.emplace_back([this, i] { work(i); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_ == job_.parameters.writers; });
  metrics_.begin_ns = monotonic_ns();
  started_ = true;
  changed_.notify_all();
}

void Writers::wait_for_stop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ == job_.parameters.writers; });
}

void Writers::go_on() {
  const std::lock_guard lock(mutex_);
  stop_wanted_ = false;
  released_ = true;
  changed_.notify_all();
}

void Writers::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Writers::stop(unsigned number, Position position) {
  positions_[number] = position;
  std::unique_lock lock(mutex_);
  if (released_) return;
  ++stopped_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return released_; });
}

void Writers::work(unsigned number) {
  {
    std::unique_lock lock(mutex_);
    ++ready_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return started_; });
  }
  auto* array = reinterpret_cast<Element*>(job_.at(0));
  const std::uint64_t pages = job_.parameters.pages();
  const ThreadUsage before = thread_usage();
  ThreadUsage went_on = before;
  bool has_stopped = false;
  for (std::uint64_t pass = 0; pass < job_.parameters.passes; ++pass) {
    for (std::uint64_t page = 0; page < pages; ++page) {
      if (stops_ && number == 0 && pass == 0 && page == pages / 2) stop_wanted_ = true;
      if (stop_wanted_.load(std::memory_order_relaxed) && !has_stopped) {
        stop(number, {pass, page});
        went_on = thread_usage();
        has_stopped = true;
      }
      if (job_.before_write != nullptr) job_.before_write(job_.context, page);
      write_page(array, page, number, job_.parameters.writers, pass + 1);
    }
  }
  // A writer that finishes before the first writer is halfway has written everything before the snapshot.
  if (stops_ && !has_stopped) {
    stop(number, {job_.parameters.passes, 0});
    went_on = thread_usage();
  }
  const ThreadUsage after = thread_usage();
  const std::lock_guard lock(mutex_);
  metrics_.end_ns = std::max(metrics_.end_ns, monotonic_ns());
  metrics_.writers_user_ns += after.user_ns - before.user_ns;
  metrics_.writers_system_ns += after.kernel_ns - before.kernel_ns;
  metrics_.resumed_user_ns += after.user_ns - went_on.user_ns;
  metrics_.resumed_system_ns += after.kernel_ns - went_on.kernel_ns;
  metrics_.resumed_faults += after.minor_faults - went_on.minor_faults;
  --job_.control->writers_running;
}

void fill(const Job& job) {
  auto* array = reinterpret_cast<Element*>(job.at(0));
  for (std::uint64_t i = 0; i < job.parameters.array_bytes / sizeof(Element); ++i) array[i] = value(i, 0);
}

void verify(const Job& job, const std::vector<Position>& positions, RunMetrics& metrics) {
  const auto* copy = reinterpret_cast<const Element*>(job.copy);
  const std::uint64_t elements = job.parameters.array_bytes / sizeof(Element);
  metrics.checked_elements = static_cast<std::int64_t>(elements);
  std::size_t writer = 0;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const Position& stood = positions[writer];
    const bool written = i * sizeof(Element) / page_bytes() < stood.page;
    if (copy[i] != value(i, stood.pass + (written ? 1 : 0)) && metrics.wrong_elements++ == 0) {
      metrics.first_wrong = static_cast<std::int64_t>(i);
    }
    if (++writer == positions.size()) writer = 0;
  }
}

}  // namespace zerotax::snapshot
