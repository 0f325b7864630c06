#include "largecache/policies/costs.h"

#include <algorithm>
#include <atomic>
#include <ctime>

#include "largecache/clear.h"
#include "largecache/pages.h"

namespace zerotax::largecache {
namespace {

constexpr std::size_t kPages = 64;
constexpr int kTrials = 3;
// Of what takes a microsecond, and twice that until the processor has seen it some times.
constexpr int kEmptyTrials = 12;

// Nanoseconds on a virtual machine of 2026 (AMD EPYC, Linux 6.18): proportions to go by when nothing can be measured.
constexpr Costs kSomeMachine{25, 1450, 660, 11, 430, 250};

void Least(double& least, std::uint64_t from, double parts) {
  const double ticks = static_cast<double>(Ticks() - from) / parts;
  if (least == 0 || ticks < least) least = ticks;
}

Costs Measure() {
  const std::size_t size = kPages * PageSize();
  const std::uintptr_t address = MapPages(size, PageSize());
  if (address == 0) return kSomeMachine;
  Costs costs;
  double scan_full = 0;
  double purge_full = 0;
  bool can_scan = true;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::uint64_t from = 0;
    for (int empty = 0; empty < kEmptyTrials; ++empty) {
      Dirty none;
      from = Ticks();
      can_scan = ZeroDirty(address, size, none) && can_scan;
      Least(costs.scan, from, 1);
      from = Ticks();
      PurgePages(address, size);
      Least(costs.purge, from, 1);
    }
    from = Ticks();
    for (std::size_t page = 0; page < kPages; ++page) {
      *static_cast<volatile unsigned char*>(AsPointer(address + page * PageSize())) = 1;
    }
    Least(costs.fault, from, kPages);
    from = Ticks();
    ZeroAll(address, size);
    Least(costs.zero_page, from, kPages);
    Dirty all;
    from = Ticks();
    can_scan = ZeroDirty(address, size, all) && can_scan;
    Least(scan_full, from, 1);
    from = Ticks();
    PurgePages(address, size);
    Least(purge_full, from, 1);
  }
  UnmapPages(address, size);
  costs.scan_page = std::max(0.0, (scan_full - costs.scan) / kPages - costs.zero_page);
  costs.purge_page = std::max(1.0, (purge_full - costs.purge) / kPages);
  if (!can_scan) costs.scan = costs.scan_page = 0;
  return costs;
}

// 0: not measured; 1: being measured; 2: there.
std::atomic<int> state{0};
constinit Costs measured;

}  // namespace

std::uint64_t Ticks() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

const Costs& MeasuredCosts() {
  if (state.load(std::memory_order_acquire) == 2) return measured;
  int none = 0;
  if (!state.compare_exchange_strong(none, 1, std::memory_order_acquire)) {
    // Another thread measures, or a fork left its work undone: any costs will do for a while.
    return none == 2 ? measured : kSomeMachine;
  }
  measured = Measure();
  state.store(2, std::memory_order_release);
  return measured;
}

}  // namespace zerotax::largecache
