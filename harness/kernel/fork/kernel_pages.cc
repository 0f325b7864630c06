#include "fork/kernel_pages.h"

#include <fmt/format.h>

#include "os/kernel_events.h"
#include "os/page_allocations.h"
#include "os/page_tables.h"

namespace zerotax::fork {
namespace {

/// Each fork is read before the next, so that no buffer fills up.
constexpr std::uint32_t kForks = 20;

double each(double sum, std::uint64_t forks) { return forks == 0 ? 0 : sum / static_cast<double>(forks); }

}  // namespace

double KernelPages::pages() const {
  double sum = 0;
  for (const auto& [order, its] : orders) sum += static_cast<double>(its.allocations << order);
  return each(sum, forks);
}

double KernelPages::zeroed_pages() const {
  double sum = 0;
  for (const auto& [order, its] : orders) sum += static_cast<double>(its.zeroed << order);
  return each(sum, forks);
}

double KernelPages::contiguous() const {
  double sum = 0;
  for (const auto& [order, its] : orders) sum += order > 0 ? static_cast<double>(its.allocations) : 0;
  return each(sum, forks);
}

KernelPages count_kernel_pages(ForkTarget& target) {
  KernelPages pages;
  target.clone(3);
  pages.parent_table_bytes = page_table_bytes(fmt::format("/proc/{}/status", target.pid()).c_str());
  const KernelEventKind kind = require_tracepoint("kmem:mm_page_alloc");
  KernelEvents watched({kind}, target.pid());
  std::vector<KernelEvent> events;
  for (; pages.forks < kForks; ++pages.forks) {
    target.clone(1);
    watched.read(events);
  }
  for (const KernelEvent& event : events) {
    const PageAllocation allocation = page_allocation_of(*kind.tracepoint, event.raw.data(), event.raw.size());
    if (allocation.movable) continue;
    KernelPages::Order& its = pages.orders[allocation.order];
    ++its.allocations;
    if (allocation.zeroed) ++its.zeroed;
  }
  pages.lost = watched.lost();
  return pages;
}

}  // namespace zerotax::fork
