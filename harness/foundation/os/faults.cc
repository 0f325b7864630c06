#include "os/faults.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "os/clock.h"
#include "os/kernel_version.h"
#include "os/page.h"

namespace zerotax {
namespace {

// Before Linux 6.0, the first store to a page of shared memory is tried twice, and counted as a major fault.
enum class Counts : signed char { kUnknown, kRight, kSharedAsMajor };
Counts counts = Counts::kUnknown;

std::int64_t minor_faults(__rusage_who_t who) {
  if (counts == Counts::kUnknown) counts = kernel_is_at_least(6, 0) ? Counts::kRight : Counts::kSharedAsMajor;
  rusage usage{};
  if (::getrusage(who, &usage) != 0) return -1;
  return usage.ru_minflt + (counts == Counts::kSharedAsMajor ? usage.ru_majflt : 0);
}

}  // namespace

// RUSAGE_THREAD is 1. glibc declares the name only under _GNU_SOURCE, which g++ defines.
std::int64_t thread_minor_faults() { return minor_faults(RUSAGE_THREAD); }

std::int64_t process_minor_faults() { return minor_faults(RUSAGE_SELF); }

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

ThreadUsage thread_usage() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return {in_ns(usage.ru_utime), in_ns(usage.ru_stime), usage.ru_minflt, usage.ru_nvcsw, usage.ru_nivcsw};
}

}  // namespace zerotax
