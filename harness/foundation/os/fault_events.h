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

/// Something that the kernel did for a process whose page faults are watched.
struct FaultEvent {
  enum class Kind {
    kBegin,       ///< a fault was taken
    kAllocation,  ///< the thread allocated pages of a program, or of a file
    kEnd,         ///< a fault was handled
    kFault,       ///< a fault in user mode was handled, and its address is all that is known
    kStack,       ///< of a fault in user mode that was taken just now: the thread's stack
    kMap,         ///< memory was mapped, or a mapping grew or changed
    kFork,        ///< `pid` was forked from `parent`
    kExec,        ///< another program: all mappings are new
    kName,        ///< the process changed its name
    kExit,        ///< the main thread ended, or the kernel ended the watch at an exec (FaultEvents::follow)
    kThreadExit,  ///< another thread ended
  };
  Kind kind = Kind::kBegin;
  std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  pid_t pid = 0;
  pid_t tid = 0;
  pid_t parent = 0;  ///< kFork

  std::uint64_t address = 0;         ///< kBegin, kEnd, kFault, kStack: that faulted
  std::uint64_t instruction = 0;     ///< kBegin, kFault: that took the fault
  std::uint64_t error_code = 0;      ///< kBegin: of the CPU: 1 the page was there, 2 a write, 4 in user mode
  bool major = false;                ///< kEnd: the kernel read something, as from swap
  unsigned order = 0;                ///< kAllocation: 2^order pages
  bool zeroed = false;               ///< kAllocation: asked to be zeroed
  bool movable = true;               ///< kAllocation: all pages that a fault allocates are movable
  bool of_program = false;           ///< kAllocation: allocated in the way of a copy or a zero-fill
  std::shared_ptr<UserStack> stack;  ///< kStack

  // kMap
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;   ///< of the file; 0: no file
  std::uint64_t device = 0;  ///< of the file system that holds the file
  bool readable = false;
  bool writable = false;
  bool shared = false;
  bool hugetlb = false;
  bool executable = false;
  std::string name;  ///< path, [heap], [stack], //anon; kExec, kName: the program's short name
};

/// Page faults of some threads and of all that they start, by perf events (perf_event_open(2)). With CAP_SYS_ADMIN,
/// every one: three tracepoints (exceptions:page_fault_user, page_fault_kernel; kmem:mm_page_alloc) and two software
/// events (minor, major faults). Without, those in user mode: the two software events, with the address. Recording them
/// can be suspended: what it costs, a program that faults much would pay twice over. They are counted all the same.
class FaultEvents {
 public:
  enum class Method { kTracepoints, kSoftware };
  enum class Stacks { kNone, kTaken };

  /// `buffer_bytes`: of the kernel's buffer for each CPU, a power of two of pages; 0: as much as is useful, or as
  /// an ordinary user is allowed. `stacks`: with each fault in user mode comes 8 KiB of the stack, through buffers of
  /// their own: the kernel may drop some of them without any fault being lost.
  /// Watches the program that the calling thread execs next (as a child). Throws MachineError with the reason.
  explicit FaultEvents(std::size_t buffer_bytes, Stacks stacks = Stacks::kNone);
  /// Watches running processes from now on. Throws MachineError, or UsageError if all processes have ended.
  FaultEvents(const std::vector<pid_t>& processes, std::size_t buffer_bytes, Stacks stacks = Stacks::kNone);
  FaultEvents(const FaultEvents&) = delete;
  FaultEvents& operator=(const FaultEvents&) = delete;

  /// Watches a running process again, in addition to the others. The kernel ends the watch of a process at an exec that
  /// changes its credentials (setuid, setgid, file capabilities), or whose program its user may not read. kExec is then
  /// followed by kExit at once (begin_new_exec in fs/exec.c). Returns false if watching is not permitted, or the
  /// process has ended.
  bool follow(pid_t process);
  /// Waits until `then`. Returns earlier if a watched process executes a program and follow() is possible.
  void wait_until(std::chrono::steady_clock::time_point then);
  /// Adds what has happened since the last call, in no order between CPUs. One thread at a time.
  void read(std::vector<FaultEvent>& events);
  /// Suspends the recording of faults, or resumes it. Forks, execs, mappings and ends are recorded always.
  void record(bool on);
  /// Faults that were handled since the beginning, recorded or not: exact.
  [[nodiscard]] std::uint64_t handled() const;
  [[nodiscard]] Method method() const { return method_; }
  /// Events that were lost because nobody read them in time.
  [[nodiscard]] std::uint64_t lost() const { return streams_->lost(); }
  /// Of the smallest buffer obtained.
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
    kExecs
  };

  /// Whether it is a counter alone; that of the minor faults also reports mappings.
  static bool counts(Source source) { return source == Source::kMinorCount || source == Source::kMajorCount; }
  void prepare(std::size_t buffer_bytes, Stacks stacks);
  bool open_thread(pid_t thread, bool at_exec);
  void open(pid_t thread, bool at_exec, int cpu, Source source);
  void open_execs(pid_t thread, bool at_exec, int cpu);
  void parse(const perf_event_header& header, PerfRecordReader reader, std::vector<FaultEvent>& events);
  void parse_sample(PerfRecordReader reader, std::vector<FaultEvent>& events);
  [[nodiscard]] bool cannot_be_handled(const unsigned char* raw, std::size_t bytes) const;
  void parse_stack(PerfRecordReader reader, std::vector<FaultEvent>& events);

  Method method_ = Method::kTracepoints;
  TraceEvent user_;
  TraceEvent kernel_;
  TraceEvent allocation_;
  std::optional<PerfStreams> streams_;
  std::optional<PerfStreams> stack_streams_;
  std::optional<PerfStreams> exec_streams_;  ///< wake wait_until()
  bool recording_ = true;
};

}  // namespace zerotax
