#include "run/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/size.h"
#include "base/units.h"
#include "run/interrupt.h"

namespace zerotax {
namespace {

constexpr std::uint64_t kProcessBytes = 64 * kMiB;

std::uint64_t needed(std::uint64_t size_bytes) { return size_bytes + size_bytes / 8 + kProcessBytes; }

}  // namespace

std::string why_too_large(std::uint64_t size_bytes, const MemoryState& memory) {
  if (needed(size_bytes) <= memory.usable()) return "";
  const bool by_cgroup = memory.cgroup_available && *memory.cgroup_available < memory.available;
  return fmt::format("needs {} of memory, and {} has {} left", format_size(needed(size_bytes)),
                     by_cgroup ? "this cgroup" : "the machine", format_size(memory.usable()));
}

void warm_up(std::uint64_t bytes) { warm_up_memory(std::min(bytes, read_memory_state().usable() / 2), stop_requested); }

std::size_t audits_side_by_side(std::uint64_t size_bytes, const MemoryState& memory) {
  // An audit may need twice the block, because some allocators keep the previous block.
  const std::uint64_t fit = memory.usable() / (2 * needed(size_bytes));
  const std::size_t cpus = std::max(1U, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(fit, 1, cpus);
}

std::uint64_t resident_limit(std::uint64_t size_bytes, const MemoryState& memory) {
  const std::uint64_t spare = 256 * kMiB;
  const std::uint64_t most = memory.usable() > spare ? memory.usable() - spare : memory.usable();
  return std::min(2 * size_bytes + kGiB, most);
}

namespace {

std::pair<std::size_t, double> sum_of(const std::vector<Item>& items) {
  std::pair<std::size_t, double> sum{0, 0};
  for (const Item& item : items) {
    sum.first += item.seconds > 0 ? 1 : 0;
    sum.second += item.seconds;
  }
  return sum;
}

/// Calls work(0) … work(tasks - 1) from several threads, each index once, in ascending order of start. The first
/// exception stops further calls, and this function rethrows it.
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
      // The system allows no more threads, so the existing ones do all the work.
    }
    worker();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

Experiment::Experiment(std::string what, Options options)
    : options_(std::move(options)), say_([this](const std::string& now) {
        if (progress_) progress_->show(now);
      }) {
  if (!what.empty()) progress_.emplace(std::move(what), 0, 0);
}

void Experiment::expect(std::size_t items, double seconds) {
  if (progress_) progress_->add(items, seconds);
  expected_items_ += items;
  expected_seconds_ += seconds;
}

void Experiment::finish(const Item& item) {
  if (progress_ && item.seconds > 0) progress_->advance(item.seconds);
  if (options_.on_finished) options_.on_finished(item);
}

void Experiment::warm_up_for(const std::vector<Item>& items) {
  if (!options_.warm_up || warm_) return;
  warm_ = true;
  std::uint64_t largest = 0;
  for (const Item& item : items) {
    if (why_too_large(item.memory_bytes).empty()) largest = std::max(largest, item.memory_bytes);
  }
  warm_up(largest + largest / 4);
}

void Experiment::audit(At begin, At end) {
  std::uint64_t memory_bytes = 0;
  for (auto item = begin; item != end; ++item) memory_bytes = std::max(memory_bytes, item->memory_bytes);
  const std::size_t fit = audits_side_by_side(memory_bytes);
  const std::size_t workers = options_.side_by_side == 0 ? fit : std::min(fit, options_.side_by_side);
  std::mutex lock;
  run_side_by_side(static_cast<std::size_t>(end - begin), workers, [&](std::size_t i) {
    const Item& item = begin[static_cast<std::ptrdiff_t>(i)];
    if (!item.audit) return;
    end_if_stopped();
    say_(item.measure ? item.label + " (audit)" : item.label);
    item.audit(say_);
    end_if_stopped();
    const std::scoped_lock held(lock);
    if (!item.measure) finish(item);
  });
}

void Experiment::run_batch(At begin, At end) {
  audit(begin, end);
  for (auto item = begin; item != end; ++item) {
    if (!item->measure) continue;
    end_if_stopped();
    say_(item->audit ? item->label + " (timing)" : item->label);
    item->measure(say_);
    end_if_stopped();
    finish(*item);
  }
}

bool Experiment::run(const std::vector<Item>& items) {
  const auto [count, seconds] = sum_of(items);
  const std::size_t known = std::min(expected_items_, count);
  const double known_seconds = std::min(expected_seconds_, seconds);
  expect(count - known, seconds - known_seconds);
  expected_items_ -= count;
  expected_seconds_ -= seconds;
  bool whole = true;
  try {
    end_if_stopped();
    warm_up_for(items);
    for (auto begin = items.begin(); begin != items.end();) {
      const auto end = std::find_if(begin, items.end(), [&](const Item& item) { return item.batch != begin->batch; });
      run_batch(begin, end);
      begin = end;
    }
  } catch (const Stop&) {
    whole = false;
  }
  if (progress_) progress_->clear();
  return whole;
}

std::vector<Item> in_rounds(unsigned rounds, std::size_t places, Rounds order,
                            const std::function<Item(unsigned round, std::size_t place)>& item) {
  std::vector<Item> items;
  items.reserve(rounds * places);
  for (unsigned round = 0; round < rounds; ++round) {
    const bool backwards = order == Rounds::kAlternating && round % 2 != 0;
    for (std::size_t i = 0; i < places; ++i) items.push_back(item(round, backwards ? places - 1 - i : i));
  }
  return items;
}

}  // namespace zerotax
