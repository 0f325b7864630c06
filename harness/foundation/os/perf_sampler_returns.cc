// The part of PerfSampler for system calls that return memory.

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "os/limits.h"
#include "os/perf_sampler.h"
#include "os/process_info.h"
#include "os/trace_event.h"

namespace zerotax {
namespace {

/// Bytes of stack copied per call. The function that frees is near the top of the stack.
constexpr std::uint32_t kReturnStackBytes = 8 << 10;
/// Limits for watching single threads. A thread has 16 of these events for each CPU, and each event makes a fork of the
/// thread some 30 ns slower.
constexpr std::size_t kMostReturnThreads = 8;
constexpr long kMostReturnCpus = 4;

struct ReturnPoint {
  ReturnCall call;
  const char* name;
  const char* filter;
};
// Values of `behavior`: MADV_DONTNEED, FREE, REMOVE, PAGEOUT, DONTNEED_LOCKED (asm-generic/mman-common.h).
constexpr ReturnPoint kReturnPoints[] = {
    {ReturnCall::kMunmap, "syscalls/sys_enter_munmap", nullptr},
    {ReturnCall::kMadvise, "syscalls/sys_enter_madvise",
     "behavior == 4 || behavior == 8 || behavior == 9 || behavior == 21 || behavior == 24"},
    {ReturnCall::kBrk, "syscalls/sys_enter_brk", nullptr},
    {ReturnCall::kMremap, "syscalls/sys_enter_mremap", nullptr},
};
/// Returns the tracepoints' numbers in the order of kReturnPoints, with 0 for a missing tracepoint.
const std::array<std::uint64_t, std::size(kReturnPoints)>& return_points() {
  static const auto found = [] {
    std::array<std::uint64_t, std::size(kReturnPoints)> ids{};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (const auto event = read_trace_event(kReturnPoints[i].name)) ids[i] = event->id;
    }
    return ids;
  }();
  return found;
}

}  // namespace

/// Samples only the program or the processes, so that other programs do not use up the samples. In an open scope, or if
/// that would need too many events, samples everything on the CPU.
bool PerfSampler::open_returns(const perf_event_attr& clock, int cpu) {
  if (scope_.light) return false;
  allow_many_files();
  std::size_t threads = 0;
  const auto is_few = [&](pid_t) { return ++threads <= kMostReturnThreads; };
  const bool whole = scope_.is_open() || ::sysconf(_SC_NPROCESSORS_CONF) > kMostReturnCpus ||
                     !for_each_thread(scope_.processes, is_few);
  if (whole) return open_returns_of(clock, -1, cpu);
  if (scope_.processes.empty()) return open_returns_of(clock, 0, cpu);
  return for_each_thread(scope_.processes, [&](pid_t thread) { return open_returns_of(clock, thread, cpu); });
}

bool PerfSampler::open_returns_of(const perf_event_attr& clock, pid_t thread, int cpu) {
  perf_event_attr attributes = clock;
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.freq = 0;
  attributes.inherit = thread >= 0 ? 1 : 0;
  attributes.exclude_idle = 0;
  attributes.sample_stack_user = std::min(stack_bytes_, kReturnStackBytes);
  attributes.mmap_data = attributes.mmap = attributes.mmap2 = attributes.comm = attributes.comm_exec = attributes.task =
      0;
  for (std::size_t i = 0; i < std::size(kReturnPoints); ++i) {
    attributes.config = return_points()[i];
    if (attributes.config == 0) return false;
    for (std::size_t level = 0; level < return_events_.periods().size(); ++level) {
      attributes.sample_period = return_events_.periods()[level];
      attributes.disabled = return_events_.is_on(level) && thread != 0 ? 0 : 1;
      attributes.enable_on_exec = return_events_.is_on(level) && thread == 0 ? 1 : 0;
      UniqueFd fd = open_perf_event(attributes, thread, cpu, scope_);
      if (!fd && errno == ESRCH) return true;  // the thread has ended meanwhile
      const char* const filter = kReturnPoints[i].filter;
      if (!fd || (filter != nullptr && ::ioctl(fd.get(), PERF_EVENT_IOC_SET_FILTER, filter) != 0)) return false;
      const int number = fd.get();
      const std::uint64_t id = add_event(std::move(fd), cpu);
      if (id == 0) return false;
      returns_[id] = {kReturnPoints[i].call, return_events_.periods()[level]};
      return_events_.add(number, level);
    }
  }
  return true;
}

}  // namespace zerotax
