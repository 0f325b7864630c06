#include "os/fault_cost.h"

#include <sys/mman.h>

#include "os/clock.h"
#include "os/faults.h"
#include "os/page.h"

namespace zerotax {

FaultSample measure_fault_cost(std::uint64_t bytes, PageKind pages) {
  const std::uint64_t mapped = pages == PageKind::kHuge ? bytes + huge_page_bytes() : bytes;
  void* memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  auto begin = reinterpret_cast<std::uintptr_t>(memory);
  if (pages == PageKind::kHuge) begin = (begin + huge_page_bytes() - 1) & ~(huge_page_bytes() - 1);
  if (pages != PageKind::kAsSet) {
    ::madvise(reinterpret_cast<void*>(begin), bytes, pages == PageKind::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  const std::int64_t faults = thread_minor_faults();
  const std::int64_t before = thread_cpu_ns();
  for (std::uint64_t i = 0; i < bytes; i += page_bytes()) *reinterpret_cast<volatile char*>(begin + i) = 1;
  const std::int64_t after = thread_cpu_ns();
  const auto taken = static_cast<std::uint64_t>(thread_minor_faults() - faults);
  ::munmap(memory, mapped);
  return {bytes, taken, static_cast<std::uint64_t>(after - before)};
}

}  // namespace zerotax
