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

/// Perf events of one kind, of which some hundred samples a second are taken, however many there are: one in a period,
/// and which period, follows from how many came. (The kernel's own adapting, attr.freq, is of no use for software
/// events and tracepoints: after a burst it takes no more samples for long.)
class RatedEvents {
 public:
  /// `periods`: primes, so that no loop of a program is sampled at the same place each time; `first`: the index of the
  /// one to begin with.
  RatedEvents(std::vector<std::uint64_t> periods, std::size_t first)
      : periods_(std::move(periods)), first_(first), level_(first) {}

  [[nodiscard]] const std::vector<std::uint64_t>& periods() const { return periods_; }
  /// Whether an event with this period is switched on.
  [[nodiscard]] bool is_on(std::size_t level) const { return level == level_; }

  /// An event with the period of this index, opened switched on or off as is_on() says.
  void add(int fd, std::size_t level) { fds_.emplace_back(fd, level); }
  void took_sample() { ++samples_; }
  /// Often: switches to the next period if there were too many samples since the last time, or too few.
  void adapt();
  void clear();

  [[nodiscard]] bool empty() const { return fds_.empty(); }
  /// Events so far, sampled or not.
  [[nodiscard]] std::uint64_t count() const;

 private:
  std::vector<std::uint64_t> periods_;
  std::size_t first_;
  std::size_t level_;
  std::vector<std::pair<int, std::size_t>> fds_;  ///< with the index of their period
  std::uint64_t samples_ = 0;
  std::int64_t adapted_ns_ = 0;
};

/// munmap, madvise (with what gives pages up at once, or lets the kernel take them), brk, mremap.
enum class ReturnCall { kMunmap, kMadvise, kBrk, kMremap };

/// Something that the kernel saw in a process that is sampled.
struct PerfEvent {
  enum class Kind {
    kSample,  ///< a look at a running thread
    kFault,   ///< page faults in user mode, where the last of `count` was taken
    kReturn,  ///< system calls that may return memory, at the last of `count`; its arguments are in the registers
    kMap,     ///< executable memory was mapped
    kData,    ///< other memory was; reported with UserFaults::kByRate only
    kFork,    ///< `pid` was forked from `parent`
    kThread,  ///< `pid` started the thread `tid`
    kExec,    ///< another program: all mappings are new
    kName,    ///< the thread `tid` took a name
    kExit,    ///< the thread `tid` ended
  };
  Kind kind = Kind::kSample;
  std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t parent = 0;  ///< kFork

  // kSample, kFault, kReturn
  std::uint64_t count = 1;            ///< kFault, kReturn: that it stands for, itself among them
  ReturnCall call{};                  ///< kReturn
  std::uint64_t address = 0;          ///< kFault, with UserFaults::kByRate: that faulted
  std::vector<std::uint64_t> kernel;  ///< kernel addresses, innermost first; empty in user mode, or if not permitted
  Registers registers{};              ///< of user mode
  std::vector<unsigned char> stack;   ///< of user mode, from the stack pointer upwards
  bool has_user = false;              ///< registers and stack are there
  bool few_registers = false;         ///< of the registers, stack pointer and program counter alone

  // kMap, kData, kExec, kName
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;   ///< of the file; 0: no file
  std::uint64_t device = 0;  ///< of the file system that holds the file
  bool shared = false;       ///< of kData
  std::string name;  ///< path of the file, or the kernel's name for the region; for kExec and kName: the short name
  std::string path;  ///< the path that opens the file, once it has been found
};

/// Whether page faults in user mode are sampled besides the clock.
enum class UserFaults {
  kNone,
  kWhereKernelIsHidden,  ///< if the kernel's own time may not be sampled
  kAlways,
  /// Some hundred samples a second of all threads together, however many faults there are: one fault in a period that
  /// read() adapts. Those that the kernel takes for the program are among them where its time may be sampled.
  kByRate,
};

/// Samples by the software event cpu-clock, `hz` times a second of CPU time. perf_event_open(2).
///
/// Where that is permitted (root, CAP_PERFMON, kernel.perf_event_paranoid below 1) each CPU is sampled, whatever runs
/// on it: a process that lives for less than a sampling period gets its share of the samples, and the events of all
/// processes are delivered. Otherwise the threads are: each has a clock of its own, inherited by what it starts, so
/// that a thread that ends before its clock first expires is never seen. This needs no privilege for user mode
/// (perf_event_paranoid up to 2), and sees the kernel where it may. The clock's samples in the kernel are dropped where
/// it may not, so that those in user mode stand for the time in user mode, and no more.
///
/// Page faults are sampled by the software event page-faults with exclude_kernel, which needs no privilege either: it
/// counts those taken in user mode, all of them, and samples one in 199; or as UserFaults::kByRate says.
class PerfSampler {
 public:
  /// Samples every program that the calling thread starts from now on, and all that those start. `stack_bytes`: copied
  /// of the user's stack with each sample; a multiple of 8, below 64 KiB. Throws MachineError if the kernel offers or
  /// permits no sampling.
  PerfSampler(unsigned hz, std::uint32_t stack_bytes, UserFaults faults);
  /// Samples processes that run, and all that those start; in an open scope, where CPUs may be sampled, whatever joins
  /// them. Throws MachineError; UsageError if all have ended.
  PerfSampler(unsigned hz, std::uint32_t stack_bytes, UserFaults faults, const PerfScope& scope);
  /// Samples nothing.
  PerfSampler();
  PerfSampler(const PerfSampler&) = delete;
  PerfSampler& operator=(const PerfSampler&) = delete;

  /// Whether samples in kernel mode are taken; if not, kernel time is missing.
  [[nodiscard]] bool sees_kernel() const { return sees_kernel_; }
  /// Whether page faults are sampled.
  [[nodiscard]] bool sees_faults() const { return !faults_.empty() && !faults_refused_; }
  /// Why no call that returns memory is sampled: with UserFaults::kByRate they are where CPUs may be, and tracepoints
  /// (root's). Empty: they are.
  [[nodiscard]] const std::string& why_no_returns() const { return why_no_returns_; }
  /// Page faults in user mode so far: all, exactly. Of sampled CPUs, those of every process (of the cgroup).
  [[nodiscard]] std::uint64_t fault_count() const;
  /// Whether CPUs are sampled: then events of processes that have nothing to do with the program are among the others.
  [[nodiscard]] bool samples_cpus() const { return samples_cpus_; }
  /// Adds what has happened since the last call, in no order between CPUs. One thread at a time.
  void read(std::vector<PerfEvent>& events);
  /// Events that were lost because nobody read them in time, most of them samples.
  [[nodiscard]] std::uint64_t lost() const;

 private:
  struct Buffer {
    int cpu;
    int fd;  ///< that the others' output is sent to
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
  /// What a sample of an event stands for, by its identifier.
  std::map<std::uint64_t, std::uint64_t> faults_;
  RatedEvents fault_events_;
  struct Return {
    ReturnCall call;
    std::uint64_t period;
  };
  std::map<std::uint64_t, Return> returns_;  ///< likewise
  RatedEvents return_events_;
  std::string why_no_returns_;
  bool faults_refused_ = false;  ///< of some thread: the others' would be taken for all
  std::vector<UniqueFd> fds_;
  std::vector<Buffer> buffers_;
  bool sees_kernel_ = false;
  bool samples_cpus_ = false;
};

}  // namespace zerotax
