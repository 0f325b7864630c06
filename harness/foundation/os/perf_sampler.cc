#include "os/perf_sampler.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/error.h"
#include "os/clock.h"
#include "os/limits.h"
#include "os/perf_event.h"
#include "os/process_info.h"

namespace zerotax {
namespace {

/// Number of samples per second above which the period grows, number below which it shrinks, and minimum time between
/// changes.
constexpr std::uint64_t kTooMany = 1500;
constexpr std::uint64_t kTooFew = 100;
constexpr std::int64_t kSoonNs = 100'000'000;

/// Buffer for each CPU, as root. A CPU that is always busy fills 16 MB/s at 997 Hz.
constexpr std::size_t kLargeBufferBytes = std::size_t{8} << 20;
constexpr std::size_t kAllBuffersBytes = std::size_t{128} << 20;
constexpr int kParanoidOfUserMode = 2;
/// A prime, so that samples do not always hit the same fault of a program's loop. A sample takes 0.6 µs, and 199 faults
/// take some 100 µs.
constexpr std::uint64_t kFaultsPerSample = 199;
/// Periods of UserFaults::kByRate, also primes. If a program takes 500,000 faults per second, the period becomes 997.
/// Until then, with the period of index kFirstPeriod, these faults fill a buffer of 512 KiB in 10 ms.
constexpr std::array<std::uint64_t, 5> kFaultPeriods{13, 127, 997, 7993, 63'997};
constexpr std::size_t kFirstPeriod = 1;
/// Sampling periods for calls that return memory. The first period is 1, so that every call is sampled in a program
/// that returns little memory.
constexpr std::array<std::uint64_t, 4> kReturnPeriods{1, 13, 127, 997};

constexpr const char* kLightReturns = "calls that return memory are not sampled with --light";
constexpr const char* kRootsReturns = "only root may sample calls that return memory";

/// Bytes of stack copied per fault. The caller of memset is near the top of the stack.
constexpr std::uint32_t kFaultStackBytes = 8 << 10;

std::size_t large_buffer_bytes() {
  std::size_t bytes = kLargeBufferBytes;
  const auto cpus = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF));
  while (bytes > kUserPerfBufferBytes && bytes * cpus > kAllBuffersBytes) bytes /= 2;
  return bytes;
}

/// Parses a sample from the field after its identifier on. With `by_rate`, a fault has an address.
void parse_sample(PerfRecordReader reader, PerfEvent& event, bool by_rate) {
  reader.take<std::uint64_t>();  // instruction address, which also begins the call chain
  event.pid = reader.take<std::uint32_t>();
  event.tid = reader.take<std::uint32_t>();
  event.time_ns = reader.take<std::uint64_t>();
  if (event.kind == PerfEvent::Kind::kFault && by_rate) event.address = reader.take<std::uint64_t>();
  event.kernel = reader.take_chain();
  UserStack user;
  if (!take_user_stack(reader, user)) return;
  event.registers = user.registers;
  event.stack = std::move(user.stack);
  event.has_user = true;
}

[[noreturn]] void refuse_sampling(int error) {
  throw perf_refusal("the kernel does not permit sampling", error, kParanoidOfUserMode);
}

}  // namespace

void RatedEvents::adapt() {
  const std::int64_t now = monotonic_ns();
  if (adapted_ns_ == 0) adapted_ns_ = now;
  const auto passed = static_cast<std::uint64_t>(std::max(now - adapted_ns_, kSoonNs));
  const std::uint64_t rate = samples_ * 1'000'000'000 / passed;
  std::size_t wanted = level_;
  if (rate > kTooMany && level_ + 1 < periods_.size()) {
    ++wanted;
  } else if (now < adapted_ns_ + kSoonNs) {
    return;
  } else if (rate < kTooFew && level_ > 0) {
    --wanted;
  }
  adapted_ns_ = now;
  samples_ = 0;
  if (wanted == level_) return;
  for (const auto& [fd, level] : fds_) {
    if (level == wanted) ::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  }
  for (const auto& [fd, level] : fds_) {
    if (level == level_) ::ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  }
  level_ = wanted;
}

void RatedEvents::clear() {
  fds_.clear();
  level_ = first_;
}

std::uint64_t RatedEvents::count() const {
  std::uint64_t sum = 0;
  for (const auto& [fd, level] : fds_) {
    std::uint64_t count = 0;  // the count includes threads that inherited the event
    if (::read(fd, &count, sizeof count) == sizeof count) sum += count;
  }
  return sum;
}

PerfSampler::PerfSampler()
    : fault_events_({kFaultPeriods.begin(), kFaultPeriods.end()}, kFirstPeriod),
      return_events_({kReturnPeriods.begin(), kReturnPeriods.end()}, 0),
      why_no_returns_(kRootsReturns) {}

PerfSampler::PerfSampler(unsigned hz, std::uint32_t stack_bytes, UserFaults faults) : PerfSampler() {
  hz_ = hz;
  stack_bytes_ = stack_bytes;
  wanted_ = faults;
  int error = 0;
  samples_cpus_ = open(Scope::kCpus, -1, true, error);
  sees_kernel_ = samples_cpus_ || open(Scope::kStarted, 0, true, error);
  if (!sees_kernel_ && !open(Scope::kStarted, 0, false, error)) refuse_sampling(error);
}

PerfSampler::PerfSampler(unsigned hz, std::uint32_t stack_bytes, UserFaults faults, const PerfScope& scope)
    : PerfSampler() {
  hz_ = hz;
  stack_bytes_ = stack_bytes;
  scope_ = scope;
  wanted_ = faults;
  int error = 0;
  samples_cpus_ = open(Scope::kCpus, -1, true, error);
  sees_kernel_ = samples_cpus_ || open_threads(scope.processes, true, error);
  if (sees_kernel_ || open_threads(scope.processes, false, error)) return;
  if (error == ESRCH) {
    throw UsageError("the process ended before it could be sampled", "give the PID of a running process");
  }
  refuse_sampling(error);
}

void PerfSampler::clear() {
  buffers_.clear();
  fds_.clear();
  faults_.clear();
  fault_events_.clear();
  returns_.clear();
  return_events_.clear();
  why_no_returns_ = kRootsReturns;
  faults_refused_ = false;
}

bool PerfSampler::open_threads(const std::vector<pid_t>& processes, bool kernel, int& error) {
  clear();
  allow_many_files();
  bool any = false;
  error = ESRCH;
  const bool granted = for_each_thread(processes, [&](pid_t thread) {
    int failure = 0;
    if (open(Scope::kThread, thread, kernel, failure)) {
      any = true;
    } else if (failure != ESRCH) {
      error = failure;
      return false;
    }
    return true;
  });
  return granted && any;
}

bool PerfSampler::open(Scope scope, pid_t thread, bool kernel, int& error) {
  if (scope != Scope::kThread) clear();
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.freq = 1;
  attributes.sample_freq = hz_;
  attributes.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                           PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attributes.sample_regs_user = user_register_mask();
  attributes.sample_stack_user = stack_bytes_;
  attributes.sample_id_all = 1;
  attributes.exclude_callchain_user = 1;  // user call chains would need frame pointers, which most libraries omit
  attributes.exclude_kernel = kernel ? 0 : 1;
  attributes.exclude_hv = 1;
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.mmap_data = wanted_ == UserFaults::kByRate ? 1 : 0;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  if (scope == Scope::kCpus) {
    attributes.exclude_idle = 1;
  } else {
    attributes.inherit = 1;
  }
  if (scope == Scope::kStarted) {  // samples the programs that this process starts, from their exec on, but not this
                                   // process
    attributes.disabled = 1;
    attributes.enable_on_exec = 1;
  }
  // A buffer of an inherited event must belong to one CPU.
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  const bool faults = wanted_ == UserFaults::kAlways || wanted_ == UserFaults::kByRate ||
                      (wanted_ == UserFaults::kWhereKernelIsHidden && !kernel);
  for (long cpu = 0; cpu < cpus; ++cpu) {
    const std::size_t before = fds_.size();
    if (!open_cpu(attributes, thread, static_cast<int>(cpu), error)) return false;
    if (!faults || faults_refused_ || fds_.size() == before) continue;
    faults_refused_ = !open_faults(attributes, thread, static_cast<int>(cpu));
    if (wanted_ != UserFaults::kByRate || scope != Scope::kCpus) continue;
    why_no_returns_ = open_returns(attributes, static_cast<int>(cpu)) ? ""
                      : scope_.light                                  ? kLightReturns
                                                                      : kRootsReturns;
  }
  return !buffers_.empty();
}

/// Opens a fault event for the thread and CPU of a clock. The samples of faults go to the clock's buffer.
bool PerfSampler::open_faults(const perf_event_attr& clock, pid_t thread, int cpu) {
  perf_event_attr attributes = clock;
  attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
  attributes.freq = 0;  // without a frequency, an event with PERF_SAMPLE_PERIOD would deliver every fault
                        // (perf_swevent_event())
  attributes.sample_stack_user = std::min(stack_bytes_, kFaultStackBytes);
  attributes.mmap_data = attributes.mmap = attributes.mmap2 = attributes.comm = attributes.comm_exec = attributes.task =
      0;
  if (wanted_ != UserFaults::kByRate) {
    attributes.exclude_kernel = 1;
    attributes.sample_period = kFaultsPerSample;
    return open_fault_event(attributes, thread, cpu, 0);
  }
  attributes.sample_type |= PERF_SAMPLE_ADDR;
  for (std::size_t level = 0; level < kFaultPeriods.size(); ++level) {
    attributes.sample_period = kFaultPeriods[level];
    attributes.disabled = fault_events_.is_on(level) ? clock.disabled : 1;
    attributes.enable_on_exec = fault_events_.is_on(level) ? clock.enable_on_exec : 0;
    if (!open_fault_event(attributes, thread, cpu, level)) return false;
  }
  return true;
}

bool PerfSampler::open_fault_event(perf_event_attr attributes, pid_t thread, int cpu, std::size_t level) {
  UniqueFd fd = open_perf_event(attributes, thread, cpu, scope_);
  if (!fd) return errno == ESRCH;  // the thread has ended meanwhile
  const int number = fd.get();
  const std::uint64_t id = add_event(std::move(fd), cpu);
  if (id == 0) return false;
  faults_[id] = attributes.sample_period;
  fault_events_.add(number, level);
  return true;
}

/// Sends the event's samples to the buffer of the CPU. Returns the event's identifier, or 0 if the kernel refuses.
std::uint64_t PerfSampler::add_event(UniqueFd fd, int cpu) {
  const auto buffer = std::find_if(buffers_.begin(), buffers_.end(), [&](const Buffer& b) { return b.cpu == cpu; });
  std::uint64_t id = 0;
  if (buffer == buffers_.end() || ::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, buffer->fd) != 0 ||
      ::ioctl(fd.get(), PERF_EVENT_IOC_ID, &id) != 0)
    return 0;
  fds_.push_back(std::move(fd));
  return id;
}

bool PerfSampler::open_cpu(perf_event_attr& attributes, pid_t thread, int cpu, int& error) {
  UniqueFd fd = open_perf_event(attributes, thread, cpu, scope_);
  if (!fd) {
    error = errno;
    return errno == ENODEV;  // an offline CPU
  }
  const auto known = std::find_if(buffers_.begin(), buffers_.end(), [&](const Buffer& b) { return b.cpu == cpu; });
  if (known != buffers_.end()) {
    if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, known->fd) != 0) {
      error = errno;
      return false;
    }
    fds_.push_back(std::move(fd));
    return true;
  }
  const bool whole = thread == -1;
  for (std::size_t bytes = whole ? large_buffer_bytes() : kUserPerfBufferBytes;; bytes = kUserPerfBufferBytes) {
    try {
      PerfBuffer events(fd.get(), bytes);
      buffers_.push_back({cpu, fd.get(), std::move(events)});
      fds_.push_back(std::move(fd));
      return true;
    } catch (const std::system_error& refusal) {
      error = refusal.code().value();
      if (bytes == kUserPerfBufferBytes) return false;
    }
  }
}

std::uint64_t PerfSampler::fault_count() const { return fault_events_.count(); }

std::uint64_t PerfSampler::lost() const {
  std::uint64_t lost = 0;
  for (const Buffer& buffer : buffers_) lost += buffer.events.lost();
  return lost;
}

void PerfSampler::read(std::vector<PerfEvent>& events) {
  for (Buffer& buffer : buffers_) {
    buffer.events.read(
        [&](const perf_event_header& header, PerfRecordReader reader) { parse(header, reader, events); });
  }
  if (wanted_ == UserFaults::kByRate && !fault_events_.empty()) fault_events_.adapt();
  if (!return_events_.empty()) return_events_.adapt();
}

/// Sets the kind and count of a sample from the sample's identifier.
void PerfSampler::note_source(std::uint64_t id, PerfEvent& event) {
  if (const auto fault = faults_.find(id); fault != faults_.end()) {
    event.kind = PerfEvent::Kind::kFault;
    event.count = fault->second;
    fault_events_.took_sample();
  } else if (const auto returned = returns_.find(id); returned != returns_.end()) {
    event.kind = PerfEvent::Kind::kReturn;
    event.call = returned->second.call;
    event.count = returned->second.period;
    return_events_.took_sample();
  }
}

void PerfSampler::parse(const perf_event_header& header, PerfRecordReader reader, std::vector<PerfEvent>& events) {
  PerfEvent event;
  if (header.type == PERF_RECORD_SAMPLE) {
    note_source(reader.take<std::uint64_t>(), event);
    parse_sample(reader, event, wanted_ == UserFaults::kByRate);
    // Events that are on for other processes also sample this process.
    if (event.kind != PerfEvent::Kind::kSample && event.pid == static_cast<std::uint32_t>(::getpid())) return;
    events.push_back(std::move(event));
    return;
  }
  auto record = parse_task_record(header, reader);
  if (!record) return;
  event.time_ns = record->time_ns;
  event.pid = static_cast<std::uint32_t>(record->pid);
  event.tid = static_cast<std::uint32_t>(record->tid);
  event.parent = static_cast<std::uint32_t>(record->parent);
  event.name = std::move(record->name);
  switch (record->type) {
    case PERF_RECORD_MMAP2:
      event.kind = (record->misc & PERF_RECORD_MISC_MMAP_DATA) != 0 ? PerfEvent::Kind::kData : PerfEvent::Kind::kMap;
      event.begin = record->begin;
      event.end = record->end;
      event.file_offset = record->file_offset;
      event.device = record->device;
      event.inode = record->inode;
      event.shared = (record->flags & MAP_SHARED) != 0;
      break;
    case PERF_RECORD_FORK:
      event.kind = event.pid == event.parent ? PerfEvent::Kind::kThread : PerfEvent::Kind::kFork;
      break;
    case PERF_RECORD_EXIT:
      event.kind = PerfEvent::Kind::kExit;
      break;
    case PERF_RECORD_COMM:
      event.kind = record->is_exec() ? PerfEvent::Kind::kExec : PerfEvent::Kind::kName;
      break;
    default:
      return;
  }
  events.push_back(std::move(event));
}

}  // namespace zerotax
