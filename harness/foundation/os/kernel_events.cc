#include "os/kernel_events.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "os/limits.h"
#include "os/perf_event.h"

namespace zerotax {
namespace {

/// A million events of 100 bytes a second fill this buffer in 80 ms, and the buffer is read every 10 ms.
constexpr std::size_t kBufferBytes = std::size_t{8} << 20;

bool has_tracepoint(const std::vector<KernelEventKind>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [](const KernelEventKind& kind) { return kind.tracepoint; });
}

[[noreturn]] void refuse(int error) { throw perf_refusal("kernel time cannot be sampled", error, 1); }

/// Returns the only CPU that a thread may run on. Throws MachineError if there are several.
int only_cpu(pid_t tid) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (::sched_getaffinity(tid, sizeof cpus, &cpus) != 0) refuse(errno);
  if (CPU_COUNT(&cpus) != 1)
    throw MachineError("the thread to sample is not bound to a CPU", "bind the thread with taskset");
  int cpu = 0;
  while (!CPU_ISSET(cpu, &cpus)) ++cpu;
  return cpu;
}

}  // namespace

std::optional<KernelEventKind> find_tracepoint(const std::string& name) {
  // tracefs has the event in the folder sched/sched_wakeup.
  std::string path = name;
  std::replace(path.begin(), path.end(), ':', '/');
  const auto tracepoint = read_trace_event(path);
  if (!tracepoint) return std::nullopt;
  return KernelEventKind{name, tracepoint};
}

KernelEventKind require_tracepoint(const std::string& name) {
  if (const auto found = find_tracepoint(name)) return *found;
  throw MachineError(fmt::format("the tracepoint {} cannot be read", name),
                     "run zerotax as root, because only root may read tracepoints; an older kernel may lack this "
                     "tracepoint");
}

KernelEvents::KernelEvents(std::vector<KernelEventKind> kinds)
    : kinds_(std::move(kinds)), streams_(has_tracepoint(kinds_) ? kBufferBytes : kUserPerfBufferBytes, false) {
  allow_many_files();
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) open(kind, 0, cpu);
  }
}

KernelEvents::KernelEvents(std::vector<KernelEventKind> kinds, pid_t thread)
    : kinds_(std::move(kinds)), streams_(kBufferBytes, false) {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) open(kind, thread, -1);
}

/// Opens an event of a thread on one CPU. `thread` 0 means the program that this thread execs next.
void KernelEvents::open(std::size_t kind, pid_t thread, int cpu) {
  const KernelEventKind& opened = kinds_[kind];
  perf_event_attr attributes{};
  attributes.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  if (opened.tracepoint) {
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = opened.tracepoint->id;
    attributes.sample_period = 1;
    attributes.sample_type |= PERF_SAMPLE_RAW;
  } else {
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.context_switch = 1;
    attributes.exclude_kernel = 1;
  }
  attributes.inherit = thread == 0 ? 1 : 0;
  try {
    streams_.open(attributes, thread, thread == 0, cpu, static_cast<unsigned>(kind));
  } catch (const std::system_error& refusal) {
    const int error = refusal.code().value();
    if (error == ENODEV) return;  // an offline CPU
    throw perf_refusal(fmt::format("the kernel does not permit watching {}", opened.name), error,
                       opened.tracepoint ? -1 : 2);
  }
}

void KernelEvents::read(std::vector<KernelEvent>& events) {
  streams_.read([&](const perf_event_header& header, PerfRecordReader reader) {
    KernelEvent event;
    std::uint64_t id = 0;
    if (header.type == PERF_RECORD_SAMPLE) {
      id = reader.take<std::uint64_t>();
      event.pid = reader.take<pid_t>();
      event.tid = reader.take<pid_t>();
      event.time_ns = reader.take<std::uint64_t>();
      const auto bytes = std::min<std::size_t>(reader.take<std::uint32_t>(), reader.left());
      event.raw.assign(reader.at(), reader.at() + bytes);
    } else if (const auto record = parse_task_record(header, reader); record && record->type == PERF_RECORD_SWITCH) {
      event.pid = record->pid;
      event.tid = record->tid;
      event.time_ns = record->time_ns;
      id = record->id;
      event.out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
      event.preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
    } else {
      return;
    }
    const auto kind = streams_.source_of(id);
    if (!kind) return;
    event.kind = *kind;
    events.push_back(std::move(event));
  });
}

KernelSampler::KernelSampler(pid_t tid, std::uint64_t period_ns) : tid_(tid) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = period_ns;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
  attributes.exclude_callchain_user = 1;
  attributes.exclude_hv = 1;
  fd_ = open_perf_event(attributes, -1, only_cpu(tid));
  samples_cpu_ = static_cast<bool>(fd_);
  if (!fd_) fd_ = open_perf_event(attributes, tid, -1);
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
    if (header.type != PERF_RECORD_SAMPLE) return;
    reader.take<std::uint32_t>();  // process ID
    if (reader.take<std::uint32_t>() != static_cast<std::uint32_t>(tid_)) return;
    stacks.push_back(reader.take_chain());
  });
}

}  // namespace zerotax
