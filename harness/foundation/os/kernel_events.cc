#include "os/kernel_events.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "os/limits.h"
#include "os/perf_refusal.h"

namespace zerotax {
namespace {

/// A million events of 100 bytes a second fill 8 MiB in 80 ms, and are read every 10.
constexpr std::size_t kBufferBytes = std::size_t{8} << 20;

bool has_tracepoint(const std::vector<KernelEventKind>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [](const KernelEventKind& kind) { return kind.tracepoint; });
}

}  // namespace

std::optional<KernelEventKind> find_tracepoint(const std::string& name) {
  // It lies in sched/sched_wakeup.
  std::string path = name;
  std::replace(path.begin(), path.end(), ':', '/');
  const auto tracepoint = read_trace_event(path);
  if (!tracepoint) return std::nullopt;
  return KernelEventKind{name, tracepoint};
}

KernelEventKind require_tracepoint(const std::string& name) {
  if (const auto found = find_tracepoint(name)) return *found;
  throw MachineError(fmt::format("the tracepoint {} cannot be read", name),
                     "run it as root: tracepoints are root's; an older kernel may not have this one");
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

/// `thread` 0: the program that this one execs next, on one CPU.
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
    } else if (header.type == PERF_RECORD_SWITCH) {
      event.pid = reader.take<pid_t>();
      event.tid = reader.take<pid_t>();
      event.time_ns = reader.take<std::uint64_t>();
      id = reader.take<std::uint64_t>();
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

}  // namespace zerotax
