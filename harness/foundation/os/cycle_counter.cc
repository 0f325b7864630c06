#include "os/cycle_counter.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "os/perf_refusal.h"

namespace zerotax {

CycleCounter::CycleCounter() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  fd_ = UniqueFd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (fd_) return;
  const bool denied = errno == EACCES || errno == EPERM;
  reason_ = perf_denial() != 0 ? "a seccomp filter or sandbox, as containers have, denies perf_event_open"
            : denied ? "counting cycles of the kernel is not permitted (kernel.perf_event_paranoid must be 1 or less)"
                     : "this machine has no hardware counter of cycles (a virtual machine without a PMU has none)";
}

std::optional<std::int64_t> CycleCounter::read() const {
  std::uint64_t values[3]{};  // count, time enabled, time running
  if (!fd_ || ::read(fd_.get(), &values[0], sizeof values) != sizeof values || values[1] != values[2]) return {};
  return static_cast<std::int64_t>(values[0]);
}

}  // namespace zerotax
