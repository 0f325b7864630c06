#include "os/kernel_sampler.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "os/perf_refusal.h"

namespace zerotax {
namespace {

[[noreturn]] void refuse(int error) { throw perf_refusal("kernel time cannot be sampled", error, 1); }

/// The only CPU that a thread may run on.
int only_cpu(pid_t tid) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (::sched_getaffinity(tid, sizeof cpus, &cpus) != 0) refuse(errno);
  if (CPU_COUNT(&cpus) != 1) throw MachineError("the thread to sample is not bound to a CPU", "bind it with taskset");
  int cpu = 0;
  while (!CPU_ISSET(cpu, &cpus)) ++cpu;
  return cpu;
}

}  // namespace

KernelSampler::KernelSampler(pid_t tid, std::uint64_t period_ns) : tid_(tid) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = period_ns;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
  attributes.exclude_callchain_user = 1;
  attributes.exclude_hv = 1;
  const auto open = [&](pid_t of, int cpu) {
    return UniqueFd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, of, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  };
  fd_ = open(-1, only_cpu(tid));
  samples_cpu_ = static_cast<bool>(fd_);
  if (!fd_) fd_ = open(tid, -1);
  if (!fd_) refuse(errno);
  try {
    buffer_.emplace_back(fd_.get(), kUserPerfBufferBytes);
  } catch (const std::system_error& refusal) {
    refuse(refusal.code().value());
  }
}

void KernelSampler::stop() { ::ioctl(fd_.get(), PERF_EVENT_IOC_DISABLE, 0); }

void KernelSampler::read(std::vector<std::vector<std::uint64_t>>& stacks) {
  buffer_.front().read([&](const perf_event_header& header, PerfRecordReader reader) {
    if (header.type == PERF_RECORD_LOST) {
      reader.take<std::uint64_t>();
      lost_ += reader.take<std::uint64_t>();
    }
    if (header.type != PERF_RECORD_SAMPLE) return;
    reader.take<std::uint32_t>();  // the process
    if (reader.take<std::uint32_t>() != static_cast<std::uint32_t>(tid_)) return;
    stacks.push_back(reader.take_chain());
  });
}

}  // namespace zerotax
