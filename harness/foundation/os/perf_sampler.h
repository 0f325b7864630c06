#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "os/perf_event.h"
#include "os/processor.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Perf events of one kind, sampled some hundred times per second, however often the events occur. One event per period
/// is sampled, and the period adapts to the number of events. The kernel's own adaptation (attr.freq) does not suit
/// software events and tracepoints, because the kernel takes no samples for a long time after a burst.
class RatedEvents {
 public:
  /// `periods` are primes, so that samples do not always hit the same place in a program's loop. `first` is the index
  /// of the initial period.
  RatedEvents(std::vector<std::uint64_t> periods, std::size_t first)
      : periods_(std::move(periods)), first_(first), level_(first) {}

  [[nodiscard]] const std::vector<std::uint64_t>& periods() const { return periods_; }
  /// Whether an event with this period is switched on.
  [[nodiscard]] bool is_on(std::size_t level) const { return level == level_; }

  /// Adds an event with the period of this index. The event must have been opened on or off, as is_on() returns.
  void add(int fd, std::size_t level) { fds_.emplace_back(fd, level); }
  void took_sample() { ++samples_; }
  /// Switches to another period if there were too many or too few samples since the last call. Must be called many
  /// times per second.
  void adapt();
  void clear();

  [[nodiscard]] bool empty() const { return fds_.empty(); }
  /// Returns the number of events so far, sampled or not.
  [[nodiscard]] std::uint64_t count() const;

 private:
  std::vector<std::uint64_t> periods_;
  std::size_t first_;
  std::size_t level_;
  std::vector<std::pair<int, std::size_t>> fds_;  ///< descriptors with the index of their period
  std::uint64_t samples_ = 0;
  std::int64_t adapted_ns_ = 0;
};

/// System calls that return memory: munmap, madvise (with advice that returns pages at once, or lets the kernel take
/// pages later), brk, mremap.
enum class ReturnCall { kMunmap, kMadvise, kBrk, kMremap };

/// An event that the kernel reported for a sampled process.
struct PerfEvent {
  enum class Kind {
    kSample,  ///< a sample of a running thread
    kFault,   ///< `count` page faults in user mode; the last fault was sampled
    kReturn,  ///< `count` system calls that may return memory; the registers have the arguments of the last call, which
              ///< was sampled
    kMap,     ///< executable memory was mapped
    kData,    ///< other memory was mapped; only with UserFaults::kByRate
    kFork,    ///< `pid` was forked from `parent`
    kThread,  ///< `pid` started the thread `tid`
    kExec,    ///< the process executed another program, so all mappings are new
    kName,    ///< the thread `tid` changed its name
    kExit,    ///< the thread `tid` ended
  };
  Kind kind = Kind::kSample;
  std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t parent = 0;  ///< kFork

  // only for kSample, kFault and kReturn
  std::uint64_t count = 1;    ///< for kFault and kReturn: number of events that the sample represents, including
                              ///< itself
  ReturnCall call{};          ///< kReturn
  std::uint64_t address = 0;  ///< kFault, with UserFaults::kByRate: the address that faulted
  std::vector<std::uint64_t> kernel;  ///< kernel addresses, innermost first; empty in user mode, or if not permitted
  Registers registers{};              ///< user-mode registers
  std::vector<unsigned char> stack;   ///< user-mode stack, from the stack pointer upwards
  bool has_user = false;              ///< whether registers and stack are known
  bool few_registers = false;         ///< whether only stack pointer and program counter are known

  // only for kMap, kData, kExec and kName
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;   ///< inode of the file; 0 for no file
  std::uint64_t device = 0;  ///< device of the file system that contains the file
  bool shared = false;       ///< whether the mapping is shared; only for kData
  std::string name;  ///< path of the file, or the kernel's name for the region; for kExec and kName, the short name
  std::string path;  ///< path at which the file can be opened; empty until the file is found
};

/// Whether page faults in user mode are sampled in addition to the clock.
enum class UserFaults {
  kNone,
  kWhereKernelIsHidden,  ///< page faults are sampled only if the kernel's own time must not be sampled
  kAlways,
  /// Takes some hundred samples per second of all threads together, however many faults there are. read() adapts the
  /// period. Faults that the kernel takes for the program are included if kernel time may be sampled.
  kByRate,
};

/// Samples by the software event cpu-clock, `hz` times per second of CPU time (perf_event_open(2)). Where permitted
/// (root, CAP_PERFMON, kernel.perf_event_paranoid below 1), each CPU is sampled, whatever runs on it. A process that
/// lives for less than a sampling period then gets its share of the samples, and the events of all processes are
/// delivered. Otherwise each thread has its own clock, and the threads and processes that it starts inherit a clock. A
/// thread that ends before its clock first expires is then never sampled.
///
/// Sampling user mode needs no privilege (perf_event_paranoid up to 2). If the kernel must not be sampled, the clock's
/// samples in the kernel are dropped, so that samples in user mode represent only time in user mode. Page faults are
/// sampled by the software event page-faults with exclude_kernel, which needs no privilege either. The event counts all
/// faults in user mode and samples one in 199, or as UserFaults::kByRate describes.
class PerfSampler {
 public:
  /// Samples every program that the calling thread starts from now on, and all descendants of these programs.
  /// `stack_bytes` of the user's stack are copied with each sample. `stack_bytes` must be a multiple of 8, below 64
  /// KiB. Throws MachineError if the kernel does not offer or permit sampling.
  PerfSampler(unsigned hz, std::uint32_t stack_bytes, UserFaults faults);
  /// Samples running processes and everything that they start. In an open scope, if CPUs may be sampled, also samples
  /// processes that join the scope. Throws MachineError if sampling is not permitted, or UsageError if all processes
  /// have ended.
  PerfSampler(unsigned hz, std::uint32_t stack_bytes, UserFaults faults, const PerfScope& scope);
  /// Samples no process.
  PerfSampler();
  PerfSampler(const PerfSampler&) = delete;
  PerfSampler& operator=(const PerfSampler&) = delete;

  /// Whether samples in kernel mode are taken. Without these samples, kernel time is missing.
  [[nodiscard]] bool sees_kernel() const { return sees_kernel_; }
  /// Whether page faults are sampled.
  [[nodiscard]] bool sees_faults() const { return !faults_.empty() && !faults_refused_; }
  /// Returns why no calls that return memory are sampled, or "" if these calls are sampled. Calls are sampled with
  /// UserFaults::kByRate if CPUs may be sampled and tracepoints (root only) may be used.
  [[nodiscard]] const std::string& why_no_returns() const { return why_no_returns_; }
  /// Returns the exact number of page faults in user mode so far. If CPUs are sampled, the number includes the faults
  /// of all processes (in the cgroup, if the scope has one).
  [[nodiscard]] std::uint64_t fault_count() const;
  /// Whether CPUs are sampled, so that events of unrelated processes are included.
  [[nodiscard]] bool samples_cpus() const { return samples_cpus_; }
  /// Appends the events since the last call, unsorted between CPUs. Only one thread may call this function at a time.
  void read(std::vector<PerfEvent>& events);
  /// Returns the number of events, most of them samples, that were lost because they were not read in time.
  [[nodiscard]] std::uint64_t lost() const;

 private:
  struct Buffer {
    int cpu;
    int fd;  ///< descriptor of the event whose buffer all events of this CPU use
    PerfBuffer events;
  };
  enum class Scope { kCpus, kStarted, kThread };

  bool open(Scope scope, pid_t thread, bool kernel, int& error);
  bool open_cpu(perf_event_attr& attributes, pid_t thread, int cpu, int& error);
  bool open_faults(const perf_event_attr& clock, pid_t thread, int cpu);
  bool open_fault_event(perf_event_attr attributes, pid_t thread, int cpu, std::size_t level);
  bool open_returns(const perf_event_attr& clock, int cpu);
  bool open_returns_of(const perf_event_attr& clock, pid_t thread, int cpu);
  std::uint64_t add_event(UniqueFd fd, int cpu);
  bool open_threads(const std::vector<pid_t>& processes, bool kernel, int& error);
  void note_source(std::uint64_t id, PerfEvent& event);
  void parse(const perf_event_header& header, PerfRecordReader reader, std::vector<PerfEvent>& events);
  void clear();

  unsigned hz_ = 0;
  std::uint32_t stack_bytes_ = 0;
  PerfScope scope_;
  UserFaults wanted_ = UserFaults::kNone;
  /// Maps an event's identifier to the number of faults that a sample of this event represents.
  std::map<std::uint64_t, std::uint64_t> faults_;
  RatedEvents fault_events_;
  struct Return {
    ReturnCall call;
    std::uint64_t period;
  };
  std::map<std::uint64_t, Return> returns_;  ///< call and period of an event, by the event's identifier
  RatedEvents return_events_;
  std::string why_no_returns_;
  bool faults_refused_ = false;  ///< whether faults cannot be counted in some thread; the count would then lack that
                                 ///< thread's faults
  std::vector<UniqueFd> fds_;
  std::vector<Buffer> buffers_;
  bool sees_kernel_ = false;
  bool samples_cpus_ = false;
};

}  // namespace zerotax
