#include "os/task_counts.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "os/limits.h"

namespace zerotax {

TaskCounts::TaskCounts(std::size_t buffer_bytes) {
  for (const bool whole : {true, false}) {
    try {
      whole_ = whole;
      why_not_.clear();
      open(whole, buffer_bytes);
      return;
    } catch (const std::exception& error) {
      why_not_ = error.what();
    }
    streams_.reset();
  }
}

/// Opens an event that is not inherited, so that the child's events are not mere clones of this process's events. The
/// kernel swaps cloned events of two threads when it switches between these threads. The kernel writes no counts at the
/// end of a thread that has the original events.
void TaskCounts::keep_apart() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.exclude_kernel = 1;
  apart_ = open_perf_event(attributes, 0, -1);
  if (!apart_) throw refused();
}

void TaskCounts::open(bool whole, std::size_t buffer_bytes) {
  keep_apart();
  streams_.emplace(buffer_bytes, false);
  allow_many_files();
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    for (const Source source : {Source::kFaults, Source::kCpu}) {
      perf_event_attr attributes{};
      attributes.type = PERF_TYPE_SOFTWARE;
      attributes.config = source == Source::kFaults ? PERF_COUNT_SW_PAGE_FAULTS_MIN : PERF_COUNT_SW_TASK_CLOCK;
      attributes.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
      attributes.inherit = 1;
      attributes.inherit_stat = 1;
      attributes.exclude_kernel = whole ? 0 : 1;
      // Only one of the two events reports forks and execs.
      attributes.task = source == Source::kFaults ? 1 : 0;
      attributes.comm = attributes.task;
      attributes.comm_exec = attributes.task;
      attributes.mmap = attributes.task;
      try {
        streams_->open(attributes, 0, true, cpu, static_cast<unsigned>(source));
      } catch (const std::system_error& refusal) {
        if (refusal.code().value() != ENODEV) throw;  // an offline CPU
      }
    }
  }
  open_new_tasks();
}

/// Opens a tracepoint that reports the flags of clone(2). Without the tracepoint, only the flags are unknown. The
/// tracepoint covers all programs, because inheriting a tracepoint would add 0.1 ms to each fork.
void TaskCounts::open_new_tasks() {
  if (::geteuid() != 0) return;
  new_task_ = read_trace_event("task/task_newtask");
  if (!new_task_) return;
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = new_task_->id;
    attributes.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
    attributes.sample_period = 1;
    try {
      streams_->open(attributes, -1, false, cpu, static_cast<unsigned>(Source::kNewTasks));
    } catch (const std::system_error&) {
      continue;  // an offline CPU, or no right to tracepoints
    }
  }
}

void TaskCounts::read_new_task(PerfRecordReader& reader, std::vector<TaskEvent>& events) const {
  reader.take<std::uint64_t>();  // identifier
  TaskEvent event;
  event.kind = TaskEvent::Kind::kFlags;
  event.parent = static_cast<pid_t>(reader.take<std::uint64_t>());  // low half: PID; high half: TID
  event.time_ns = static_cast<std::int64_t>(reader.take<std::uint64_t>());
  const auto bytes = std::min<std::size_t>(reader.take<std::uint32_t>(), reader.left());
  event.clone_flags = new_task_->number("clone_flags", reader.at(), bytes);
  if ((event.clone_flags & CLONE_THREAD) == 0) events.push_back(std::move(event));
}

void TaskCounts::read(std::vector<TaskEvent>& events) {
  if (!streams_) return;
  streams_->read([&](const perf_event_header& header, PerfRecordReader reader) {
    if (header.type == PERF_RECORD_SAMPLE) return read_new_task(reader, events);
    const auto record = parse_task_record(header, reader);
    if (!record) return;
    TaskEvent event;
    event.time_ns = static_cast<std::int64_t>(record->time_ns);
    event.pid = record->pid;
    if (record->type == PERF_RECORD_FORK) {
      event.parent = record->parent;
      if (record->pid != record->tid) return;  // a new thread
    } else if (record->type == PERF_RECORD_EXIT) {
      event.kind = TaskEvent::Kind::kEnd;
      if (record->pid != record->tid) return;  // a thread other than the first
    } else if (record->type == PERF_RECORD_COMM && record->is_exec()) {
      event.kind = TaskEvent::Kind::kExec;
      event.name = record->name;
    } else if (record->type == PERF_RECORD_MMAP) {
      event.kind = TaskEvent::Kind::kMap;
    } else if (const auto source = streams_->source_of(record->id); record->type == PERF_RECORD_READ && source) {
      event.kind = TaskEvent::Kind::kCounts;
      if (record->value == 0 || event.pid == ::getpid()) return;
      (static_cast<Source>(*source) == Source::kFaults ? event.minor_faults : event.cpu_ns) = record->value;
    } else {
      return;
    }
    events.push_back(std::move(event));
  });
}

}  // namespace zerotax
