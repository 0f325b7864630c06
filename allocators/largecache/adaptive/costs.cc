#include "largecache/adaptive/costs.h"

#include <algorithm>
#include <atomic>

#include "largecache/clear.h"
#include "largecache/pages.h"
#include "largecache/ticks.h"

namespace zerotax::largecache {
namespace {

constexpr std::size_t kFewPages = 64;
constexpr std::size_t kManyPages = 512;
constexpr int kTrials = 3;
// Number of trials on empty blocks, as a multiple of kTrials. A trial takes one microsecond, or two until the
// processor's caches are warm.
constexpr int kEmptyTrials = 12;
// Number of parts into which the pages are divided. Faults and purges are timed for each part, and the fastest part
// counts. Each page is populated only once, because populating it costs the program a fault.
constexpr std::size_t kParts = 4;

// Costs in nanoseconds on a virtual machine of 2026 (AMD EPYC, Linux 6.18). The ratios of these costs are used if
// nothing can be measured.
constexpr Costs kSomeMachine{25, 1450, 660, 11, 40, 430, 250};

void keep_least(double& least, std::uint64_t from, double parts) {
  const double ticks = static_cast<double>(ticks_now() - from) / parts;
  if (least == 0 || ticks < least) least = ticks;
}

// Touches every second of `pages` pages from `address` on, and times each part.
void touch_every_other(std::uintptr_t address, std::size_t pages, double& fault) {
  const std::size_t part = pages / kParts;
  for (std::size_t begin = 0; begin < pages; begin += part) {
    const std::uint64_t from = ticks_now();
    for (std::size_t i = begin; i < begin + part; i += 2)
      *static_cast<volatile unsigned char*>(as_pointer(address + i * page_size())) = 1;
    keep_least(fault, from, static_cast<double>(part) / 2);
  }
}

// Reduces `least` to the shortest time in which the kernel reports these pages and the caller zeroes them. Returns
// false if the kernel does not report pages.
bool time_look(std::uintptr_t address, std::size_t size, double& least) {
  bool can_scan = true;
  for (int trial = 0; trial < kTrials; ++trial) {
    Dirty dirty;
    const std::uint64_t from = ticks_now();
    can_scan = zero_dirty(address, size, dirty) && can_scan;
    keep_least(least, from, 1);
  }
  return can_scan;
}

Costs measure(std::size_t page_count) {
  const auto pages = static_cast<double>(page_count);
  const double runs = pages / 2;
  const std::size_t size = page_count * page_size();
  const std::uintptr_t address = map_pages(size, page_size());
  if (address == 0) return kSomeMachine;
  Costs costs;
  double scan_full = 0;
  double scan_halves = 0;
  bool can_scan = true;
  for (int empty = 0; empty < kTrials * kEmptyTrials; ++empty) {
    Dirty none;
    std::uint64_t from = ticks_now();
    can_scan = zero_dirty(address, size, none) && can_scan;
    keep_least(costs.scan, from, 1);
    from = ticks_now();
    purge_pages(address, size);
    keep_least(costs.purge, from, 1);
  }
  // Touches every second page, then the pages in between.
  touch_every_other(address, page_count, costs.fault);
  can_scan = time_look(address, size, scan_halves) && can_scan;
  touch_every_other(address + page_size(), page_count, costs.fault);
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::uint64_t from = ticks_now();
    zero_all(address, size);
    keep_least(costs.zero_page, from, pages);
  }
  can_scan = time_look(address, size, scan_full) && can_scan;
  double purge_part = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::uint64_t from = ticks_now();
    purge_pages(address + part * (size / kParts), size / kParts);
    keep_least(purge_part, from, 1);
  }
  unmap_pages(address, size);
  costs.scan_page = std::max(0.0, (scan_full - costs.scan) / pages - costs.zero_page);
  costs.scan_run = std::max(0.0, (scan_halves - costs.scan) / runs - costs.scan_page - costs.zero_page);
  costs.purge_page = std::max(1.0, (purge_part - costs.purge) * kParts / pages);
  if (!can_scan) costs.scan = costs.scan_page = costs.scan_run = 0;
  return costs;
}

struct OfASize {
  std::size_t pages;
  std::atomic<int> state;  // 0: not measured, 1: being measured, 2: measured
  Costs measured;
};
constinit OfASize few{kFewPages, {}, {}};
constinit OfASize many{kManyPages, {}, {}};

}  // namespace

const Costs& measured_costs(std::size_t populated) {
  OfASize& costs = populated < kManyPages ? few : many;
  if (costs.state.load(std::memory_order_acquire) == 2) return costs.measured;
  int none = 0;
  if (!costs.state.compare_exchange_strong(none, 1, std::memory_order_acquire)) {
    // Returns approximate costs while another thread measures, or if a fork interrupted the measurement.
    return none == 2 ? costs.measured : kSomeMachine;
  }
  costs.measured = measure(costs.pages);
  costs.state.store(2, std::memory_order_release);
  return costs.measured;
}

}  // namespace zerotax::largecache
