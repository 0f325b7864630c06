#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/perf_event.h"
#include "os/perf_streams.h"
#include "os/trace_event.h"

namespace zerotax {

/// An action of the kernel for a process whose page faults are watched.
struct FaultEvent {
  enum class Kind {
    kBegin,       ///< a fault was taken
    kAllocation,  ///< the thread allocated pages for a program or a file
    kTable,       ///< the thread allocated a page table
    kEnd,         ///< a fault was handled
    kFault,       ///< a fault in user mode was handled, and only its address is known
    kStack,       ///< the thread's stack at the fault in user mode that was just taken
    kMap,         ///< memory was mapped, or a mapping grew or changed
    kFork,        ///< `pid` was forked from `parent`
    kForkBegin,   ///< the thread called fork, vfork or clone
    kForkEnd,     ///< the call made a process or thread; the copies of memory and page tables are complete
    kExec,        ///< the process executed another program, so all mappings are new
    kName,        ///< the process changed its name
    kExit,        ///< the main thread ended, or the kernel stopped watching the process at an exec
                  ///< (FaultEvents::follow)
    kThreadExit,  ///< another thread ended
  };
  Kind kind = Kind::kBegin;
  std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  pid_t pid = 0;
  pid_t tid = 0;
  pid_t parent = 0;  ///< kFork

  std::uint64_t address = 0;         ///< kBegin, kEnd, kFault, kStack: the address that faulted
  std::uint64_t instruction = 0;     ///< kBegin, kFault: the instruction that took the fault
  std::uint64_t error_code = 0;      ///< kBegin: bits of the CPU's error code (1 for a present page, 2 for a write, 4
                                     ///< for user mode)
  bool major = false;                ///< kEnd: the fault had to wait for input, as from swap
  unsigned order = 0;                ///< kAllocation: 2^order pages were allocated
  bool zeroed = false;               ///< kAllocation: whether zeroed pages were requested
  bool movable = true;               ///< kAllocation: whether the pages are movable, as all pages allocated by faults
                                     ///< are
  bool of_program = false;           ///< kAllocation: whether the pages were allocated as for a copy or a zero-fill
  std::shared_ptr<UserStack> stack;  ///< kStack
  std::uint64_t clone_flags = 0;     ///< kForkEnd: CLONE_…

  // kMap
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;   ///< inode of the file; 0 for no file
  std::uint64_t device = 0;  ///< device of the file system that contains the file
  bool readable = false;
  bool writable = false;
  bool shared = false;
  bool hugetlb = false;
  bool executable = false;
  std::string name;  ///< path, [heap], [stack], //anon; kExec, kName: the program's short name
};

/// Watches page faults of some threads and of all processes and threads that they start, by perf events
/// (perf_event_open(2)). CAP_SYS_ADMIN gives access to every fault, by three tracepoints (exceptions:page_fault_user,
/// page_fault_kernel; kmem:mm_page_alloc) and two software events (minor, major faults). Without this capability, only
/// the two software events are available, which report faults in user mode with their address. Recording can be
/// suspended, because it doubles the cost of faults in a program that takes many faults. Suspended faults are still
/// counted.
class FaultEvents {
 public:
  enum class Method { kTracepoints, kSoftware };
  enum class Stacks { kNone, kTaken };

  /// Watches the program that the calling thread execs next (as a child). Throws MachineError if watching is not
  /// permitted. `buffer_bytes` is the size of the kernel's buffer for each CPU, a power of two of pages. A size of 0
  /// selects a useful size, or the size that an ordinary user may have. `stacks` adds 8 KiB of the stack to each fault
  /// in user mode. Stacks have their own buffers: the kernel may drop some of them without losing any fault.
  explicit FaultEvents(std::size_t buffer_bytes, Stacks stacks = Stacks::kNone);
  /// Watches running processes from now on. Throws MachineError if watching is not permitted, or UsageError if all
  /// processes have ended.
  FaultEvents(const std::vector<pid_t>& processes, std::size_t buffer_bytes, Stacks stacks = Stacks::kNone);
  FaultEvents(const FaultEvents&) = delete;
  FaultEvents& operator=(const FaultEvents&) = delete;

  /// Watches a running process again, in addition to the others. The kernel stops watching a process at an exec that
  /// changes the process's credentials (setuid, setgid, file capabilities). The kernel also stops at an exec of a
  /// program that the user may not read. In both cases kExit follows kExec at once (begin_new_exec in fs/exec.c).
  /// Returns false if watching is not permitted, or the process has ended.
  bool follow(pid_t process);
  /// Waits until `then`. Returns earlier if a watched process executes a program and follow() is possible.
  void wait_until(std::chrono::steady_clock::time_point then);
  /// Appends the events since the last call, unsorted between CPUs. Only one thread may call this function at a time.
  void read(std::vector<FaultEvent>& events);
  /// Suspends or resumes the recording of faults. Forks, execs, mappings and ends are always recorded.
  void record(bool on);
  /// Returns the exact number of faults handled since the beginning, whether recorded or not.
  [[nodiscard]] std::uint64_t handled() const;
  [[nodiscard]] Method method() const { return method_; }
  /// Whether kForkBegin and kForkEnd are reported.
  [[nodiscard]] bool reports_forks() const { return system_call_ && new_task_; }
  /// Returns the number of events that were lost because they were not read in time.
  [[nodiscard]] std::uint64_t lost() const { return streams_->lost(); }
  /// Returns the size of the smallest buffer obtained.
  [[nodiscard]] std::size_t buffer_bytes() const { return streams_->buffer_bytes(); }

 private:
  enum class Source : unsigned {
    kUser,
    kKernel,
    kAllocation,
    kMinor,
    kMajor,
    kStack,
    kMinorCount,
    kMajorCount,
    kExecs,
    kForkBegin,
    kForkEnd
  };

  /// Whether events of a source are only counted. The counter of minor faults also reports mappings.
  static bool counts(Source source) { return source == Source::kMinorCount || source == Source::kMajorCount; }
  void prepare(std::size_t buffer_bytes, Stacks stacks);
  bool open_thread(pid_t thread, bool at_exec);
  void open(pid_t thread, bool at_exec, int cpu, Source source);
  void open_execs(pid_t thread, bool at_exec, int cpu);
  void open_forks(pid_t thread, bool at_exec, int cpu);
  void parse(const perf_event_header& header, PerfRecordReader reader, std::vector<FaultEvent>& events);
  void parse_sample(PerfRecordReader reader, std::vector<FaultEvent>& events);
  [[nodiscard]] bool cannot_be_handled(const unsigned char* raw, std::size_t bytes) const;
  void parse_stack(PerfRecordReader reader, std::vector<FaultEvent>& events);

  Method method_ = Method::kTracepoints;
  TraceEvent user_;
  TraceEvent kernel_;
  TraceEvent allocation_;
  std::optional<TraceEvent> system_call_;  ///< raw_syscalls:sys_enter
  std::optional<TraceEvent> new_task_;     ///< task:task_newtask
  std::optional<PerfStreams> streams_;
  std::optional<PerfStreams> stack_streams_;
  std::optional<PerfStreams> exec_streams_;  ///< events that wake wait_until()
  bool recording_ = true;
};

}  // namespace zerotax
