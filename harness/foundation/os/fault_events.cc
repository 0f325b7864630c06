#include "os/fault_events.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <thread>

#include "base/error.h"
#include "os/limits.h"
#include "os/perf_event.h"
#include "os/process_info.h"
#include "os/processor.h"
#include "os/test_hook.h"
#include "os/trace_event.h"

namespace zerotax {
namespace {

/// Buffer size for root. Two programs that only take faults cause 113 MB/s of events, which fill 8 MiB in 70 ms. The
/// buffer is read every 10 ms.
constexpr std::size_t kBufferBytes = std::size_t{8} << 20;
/// Buffer size for an ordinary user, where permitted. For an ordinary user, two programs that only take faults cause 15
/// MB/s of events.
constexpr std::size_t kLargeUserBytes = std::size_t{2} << 20;
/// Bytes of the user's stack recorded per fault, enough for some twenty nested calls in CPython.
constexpr std::uint32_t kStackBytes = std::uint32_t{8} << 10;

/// Buffer bytes for exec events, which only wake the reader.
constexpr std::size_t kExecBytes = std::size_t{16} << 10;

/// Returns the buffer size for an ordinary user. Memory beyond perf_event_mlock_kb counts as locked by the user, whose
/// limit is 8 MiB in Debian.
std::size_t user_buffer_bytes() {
  rlimit locked{};
  const auto cpus = static_cast<rlim_t>(::sysconf(_SC_NPROCESSORS_CONF));
  const bool enough = ::getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur / cpus >= kLargeUserBytes;
  return enough ? kLargeUserBytes : kUserPerfBufferBytes;
}

}  // namespace

FaultEvents::FaultEvents(std::size_t buffer_bytes, Stacks stacks) {
  prepare(buffer_bytes, stacks);
  open_thread(0, true);
}

FaultEvents::FaultEvents(const std::vector<pid_t>& processes, std::size_t buffer_bytes, Stacks stacks) {
  prepare(buffer_bytes, stacks);
  allow_many_files();
  bool any = false;
  for_each_thread(processes, [&](pid_t thread) {
    any = open_thread(thread, false) || any;
    return true;
  });
  if (any) return;
  throw UsageError("the process ended before it could be watched", "give the PID of a running process");
}

/// Selects the best permitted method. ZEROTAX_FAULTS=software in the environment selects the method of ordinary users,
/// so that root can test it.
void FaultEvents::prepare(std::size_t buffer_bytes, Stacks stacks) {
  const char* chosen = test_hook("ZEROTAX_FAULTS");
  method_ = Method::kSoftware;
  if (kHasFaultTracepoints && (chosen == nullptr || std::string(chosen) != "software")) {
    const auto user = read_trace_event("exceptions/page_fault_user");
    const auto kernel = read_trace_event("exceptions/page_fault_kernel");
    const auto allocation = read_trace_event("kmem/mm_page_alloc");
    if (user && kernel && allocation) {
      user_ = *user;
      kernel_ = *kernel;
      allocation_ = *allocation;
      method_ = Method::kTracepoints;
      system_call_ = read_trace_event("raw_syscalls/sys_enter");
      new_task_ = read_trace_event("task/task_newtask");
    }
  }
  const std::size_t useful = method_ == Method::kTracepoints ? kBufferBytes : user_buffer_bytes();
  streams_.emplace(buffer_bytes > 0 ? buffer_bytes : useful, buffer_bytes > 0);
  if (::geteuid() == 0) exec_streams_.emplace(kExecBytes, false);
  if (stacks == Stacks::kTaken) stack_streams_.emplace(useful, false);
}

/// Returns false if the thread has ended.
bool FaultEvents::open_thread(pid_t thread, bool at_exec) {
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  bool any = false;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    try {
      for (const Source source : {Source::kMinorCount, Source::kMajorCount}) open(thread, at_exec, cpu, source);
      // An event for the end of a fault is opened before the event for its beginning, so that each recorded beginning
      // has an end.
      for (const Source source :
           {Source::kMinor, Source::kMajor, Source::kAllocation, Source::kUser, Source::kKernel}) {
        const bool software = source == Source::kMinor || source == Source::kMajor;
        if (software || method_ == Method::kTracepoints) open(thread, at_exec, cpu, source);
      }
      if (reports_forks()) open_forks(thread, at_exec, cpu);
      if (stack_streams_) open(thread, at_exec, cpu, Source::kStack);
      if (exec_streams_) open_execs(thread, at_exec, cpu);
      any = true;
    } catch (const std::system_error& refusal) {
      const int error = refusal.code().value();
      if (error == ENODEV) continue;  // an offline CPU
      if (error == ESRCH) return false;
      throw perf_refusal("the kernel does not permit watching page faults", error, 2);
    }
  }
  return any;
}

void FaultEvents::open(pid_t thread, bool at_exec, int cpu, Source source) {
  perf_event_attr attributes{};
  switch (source) {
    case Source::kMinor:
    case Source::kMinorCount:
      attributes.type = PERF_TYPE_SOFTWARE;
      attributes.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
      break;
    case Source::kMajor:
    case Source::kMajorCount:
      attributes.type = PERF_TYPE_SOFTWARE;
      attributes.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ;
      break;
    case Source::kExecs:
    case Source::kStack:
      attributes.type = PERF_TYPE_SOFTWARE;
      attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
      break;
    case Source::kUser:
    case Source::kKernel:
    case Source::kAllocation:
      attributes.type = PERF_TYPE_TRACEPOINT;
      attributes.config = (source == Source::kUser ? user_ : source == Source::kKernel ? kernel_ : allocation_).id;
      break;
    case Source::kForkBegin:
    case Source::kForkEnd:
      attributes.type = PERF_TYPE_TRACEPOINT;
      attributes.config = (source == Source::kForkBegin ? system_call_ : new_task_)->id;
      break;
  }
  attributes.sample_period = counts(source) ? 0 : 1;
  attributes.sample_type =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
  const bool stacks = source == Source::kStack;
  if (stacks) {
    attributes.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attributes.sample_regs_user = user_register_mask();
    attributes.sample_stack_user = kStackBytes;
  } else if (method_ == Method::kTracepoints) {
    attributes.sample_type |= PERF_SAMPLE_RAW;
  }
  attributes.exclude_kernel = method_ == Method::kTracepoints && !stacks ? 0 : 1;
  attributes.inherit = 1;
  if (source == Source::kMinorCount) {
    attributes.mmap = 1;
    attributes.mmap_data = 1;
    attributes.mmap2 = 1;
    attributes.comm = 1;
    attributes.comm_exec = 1;
    attributes.task = 1;
  }
  (stacks ? stack_streams_ : streams_)->open(attributes, thread, at_exec, cpu, static_cast<unsigned>(source));
}

void FaultEvents::open_execs(pid_t thread, bool at_exec, int cpu) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attributes.inherit = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.watermark = 1;
  attributes.wakeup_watermark = 1;
  exec_streams_->open(attributes, thread, at_exec, cpu, static_cast<unsigned>(Source::kExecs));
}

/// Opens the events of forks. A filter selects the system calls that start processes.
void FaultEvents::open_forks(pid_t thread, bool at_exec, int cpu) {
  std::string filter = fmt::format("id == {} || id == {}", SYS_clone, SYS_clone3);
#ifdef SYS_fork
  filter += fmt::format(" || id == {} || id == {}", SYS_fork, SYS_vfork);
#endif
  open(thread, at_exec, cpu, Source::kForkEnd);
  open(thread, at_exec, cpu, Source::kForkBegin);
  streams_->filter(filter);
}

bool FaultEvents::follow(pid_t process) {
  if (::geteuid() != 0) return false;
  bool any = false;
  try {
    for_each_thread({process}, [&](pid_t thread) {
      any = open_thread(thread, false) || any;
      return true;
    });
  } catch (const MachineError&) {  // the process has too many open descriptors
  }
  if (any && !recording_) record(false);
  return any;
}

void FaultEvents::wait_until(std::chrono::steady_clock::time_point then) {
  if (exec_streams_) return exec_streams_->wait_until(then);
  std::this_thread::sleep_until(then);
}

void FaultEvents::record(bool on) {
  recording_ = on;
  // Events that begin a fault are switched on last and off first, so that each recorded beginning has an end.
  std::array sources{Source::kUser, Source::kKernel, Source::kAllocation, Source::kMinor, Source::kMajor};
  if (on) std::reverse(sources.begin(), sources.end());
  for (const Source source : sources) streams_->enable(static_cast<unsigned>(source), on);
  if (stack_streams_) stack_streams_->enable(static_cast<unsigned>(Source::kStack), on);
}

std::uint64_t FaultEvents::handled() const {
  return streams_->count(static_cast<unsigned>(Source::kMinorCount)) +
         streams_->count(static_cast<unsigned>(Source::kMajorCount));
}

void FaultEvents::read(std::vector<FaultEvent>& events) {
  streams_->read([&](const perf_event_header& header, PerfRecordReader reader) { parse(header, reader, events); });
  if (!stack_streams_) return;
  stack_streams_->read([&](const perf_event_header& header, PerfRecordReader reader) {
    if (header.type == PERF_RECORD_SAMPLE) parse_stack(reader, events);
  });
}

/// Whether a fault in the kernel was taken in an interrupt, as when perf copies a thread's stack for a clock sample. A
/// fault in an interrupt populates no page, and the kernel does not count it.
bool FaultEvents::cannot_be_handled(const unsigned char* raw, std::size_t bytes) const {
  constexpr std::uint64_t kInterrupted = 0x08 | 0x10 | 0x40;  // TRACE_FLAG_HARDIRQ, _SOFTIRQ, _NMI
  return (kernel_.number("common_flags", raw, bytes) & kInterrupted) != 0;
}

void FaultEvents::parse_sample(PerfRecordReader reader, std::vector<FaultEvent>& events) {
  const auto id = reader.take<std::uint64_t>();
  FaultEvent event;
  event.instruction = reader.take<std::uint64_t>();
  event.pid = reader.take<pid_t>();
  event.tid = reader.take<pid_t>();
  event.time_ns = reader.take<std::uint64_t>();
  event.address = reader.take<std::uint64_t>();
  const auto raw_bytes = std::min<std::size_t>(reader.take<std::uint32_t>(), reader.left());
  const unsigned char* raw = reader.at();
  const std::optional<unsigned> opened = streams_->source_of(id);
  if (!opened) return;
  const auto source = static_cast<Source>(*opened);
  switch (source) {
    case Source::kStack:
    case Source::kMinorCount:
    case Source::kMajorCount:
    case Source::kExecs:
      return;
    case Source::kMinor:
    case Source::kMajor:
      event.kind = method_ == Method::kTracepoints ? FaultEvent::Kind::kEnd : FaultEvent::Kind::kFault;
      event.major = source == Source::kMajor;
      break;
    case Source::kUser:
    case Source::kKernel: {
      const TraceEvent& format = source == Source::kUser ? user_ : kernel_;
      if (source == Source::kKernel && cannot_be_handled(raw, raw_bytes)) return;
      event.kind = FaultEvent::Kind::kBegin;
      event.address = format.number("address", raw, raw_bytes);
      event.instruction = format.number("ip", raw, raw_bytes);
      event.error_code = format.number("error_code", raw, raw_bytes);
      break;
    }
    case Source::kForkBegin:
      event.kind = FaultEvent::Kind::kForkBegin;
      break;
    case Source::kForkEnd:
      event.kind = FaultEvent::Kind::kForkEnd;
      event.clone_flags = new_task_->number("clone_flags", raw, raw_bytes);
      break;
    case Source::kAllocation: {
      const PageAllocation pages = page_allocation_of(allocation_, raw, raw_bytes);
      if (!pages.movable && !pages.of_program && !pages.is_table) return;
      event.kind = pages.is_table ? FaultEvent::Kind::kTable : FaultEvent::Kind::kAllocation;
      event.movable = pages.movable;
      event.of_program = pages.of_program;
      event.order = pages.order;
      event.zeroed = pages.zeroed;
      break;
    }
  }
  events.push_back(std::move(event));
}

void FaultEvents::parse_stack(PerfRecordReader reader, std::vector<FaultEvent>& events) {
  reader.take<std::uint64_t>();
  FaultEvent event;
  event.kind = FaultEvent::Kind::kStack;
  event.instruction = reader.take<std::uint64_t>();
  event.pid = reader.take<pid_t>();
  event.tid = reader.take<pid_t>();
  event.time_ns = reader.take<std::uint64_t>();
  event.address = reader.take<std::uint64_t>();
  event.stack = std::make_shared<UserStack>();
  if (take_user_stack(reader, *event.stack)) events.push_back(std::move(event));
}

void FaultEvents::parse(const perf_event_header& header, PerfRecordReader reader, std::vector<FaultEvent>& events) {
  if (header.type == PERF_RECORD_SAMPLE) {
    parse_sample(reader, events);
    return;
  }
  auto record = parse_task_record(header, reader);
  if (!record) return;
  FaultEvent event;
  event.time_ns = record->time_ns;
  event.pid = record->pid;
  event.tid = record->tid;
  event.name = std::move(record->name);
  switch (record->type) {
    case PERF_RECORD_MMAP2:
      event.kind = FaultEvent::Kind::kMap;
      event.begin = record->begin;
      event.end = record->end;
      event.file_offset = record->file_offset;
      event.device = record->device;
      event.inode = record->inode;
      event.readable = (record->protection & PROT_READ) != 0;
      event.writable = (record->protection & PROT_WRITE) != 0;
      event.executable = (record->protection & PROT_EXEC) != 0;
      event.shared = (record->flags & MAP_SHARED) != 0;
      event.hugetlb = (record->flags & MAP_HUGETLB) != 0;
      break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      event.kind = record->type == PERF_RECORD_FORK ? FaultEvent::Kind::kFork : FaultEvent::Kind::kExit;
      event.parent = record->parent;
      if (event.pid == event.tid) break;
      if (event.kind == FaultEvent::Kind::kFork) return;
      event.kind = FaultEvent::Kind::kThreadExit;
      break;
    case PERF_RECORD_COMM:
      event.kind = record->is_exec() ? FaultEvent::Kind::kExec : FaultEvent::Kind::kName;
      if (event.pid != event.tid) return;
      break;
    default:
      return;
  }
  events.push_back(std::move(event));
}

}  // namespace zerotax
