#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "observe/kernel_symbols.h"
#include "observe/profile_data.h"
#include "observe/unwinder.h"
#include "observe/wall_sampler.h"
#include "os/perf_sampler.h"
#include "os/process_file.h"
#include "os/worker.h"

namespace zerotax {

/// Who follows the memory of the processes that are sampled, page faults first: called in the recorder's thread, in the
/// order of time.
struct FaultListener {
  /// A mapping (kMap, kData), fork, exec, or the end of a thread, before the recorder itself applies it.
  std::function<void(const PerfEvent&)> change;
  /// A sample that stands for `count` faults, with the user part of its stack, outermost first.
  std::function<void(const PerfEvent&, const Stack&, Unwinder&)> fault;
  /// Likewise of calls that return memory (PerfEvent::Kind::kReturn).
  std::function<void(const PerfEvent&, const Stack&, Unwinder&)> returned;
  /// Of the clock, with the whole of its stack.
  std::function<void(const PerfEvent&, const Stack&, Unwinder&)> sample;
};

struct ProfileOptions {
  unsigned hz = 997;  ///< samples a second: of CPU time, or with `wall` of the time that passes
  bool wall =
      false;  ///< every thread is looked at, blocked or running; what one that runs is at, samples of the CPU say
  bool by_thread = false;
  PerfScope scope{};                      ///< of processes that run; none: what the calling thread starts
  std::optional<FaultListener> faults{};  ///< then page faults are sampled by UserFaults::kByRate
  std::uint32_t stack_bytes = 16 << 10;   ///< that each sample copies of the stack
};

/// Takes and unwinds samples, in a thread of its own, of the program that the calling thread starts between
/// construction and finish(): one, and what that starts. (Of a second one the kernel may take none: between two threads
/// that share inherited events it exchanges them, and "enabled by exec" is true of an event once.) Or of processes that
/// run. Where the kernel's time may not be sampled, the threads' own clocks say how much it was (ThreadClock), and page
/// faults are sampled where they are taken. Of processes that run, that account remains where nothing may be sampled.
class ProfileRecorder {
 public:
  /// Called in the recorder's thread for each sample, with its stack.
  using Each = std::function<void(const PerfEvent&, const Stack&)>;

  /// Throws MachineError if nothing can be sampled of a program that is yet to be started, UsageError if the processes
  /// have ended.
  explicit ProfileRecorder(ProfileOptions options, Each each = {});
  explicit ProfileRecorder(unsigned hz, Each each = {}) : ProfileRecorder(ProfileOptions{hz}, std::move(each)) {}
  ~ProfileRecorder();
  ProfileRecorder(const ProfileRecorder&) = delete;
  ProfileRecorder& operator=(const ProfileRecorder&) = delete;

  /// Waits until processes that run already are known: what was sampled before is not counted.
  void wait_ready();
  /// Ends sampling. Once. Throws what ended it early.
  ProfileData finish();

 private:
  using Clock = std::chrono::steady_clock;
  using ThreadId = std::pair<std::uint32_t, std::uint32_t>;

  /// Forked processes share what is known of their memory, until one maps something: most of them never do, and the
  /// files of a program are opened once, for its first sample.
  struct Process {
    std::string name;
    std::shared_ptr<Unwinder> unwinder;
    long threads = 1;
    bool started = true;  ///< the program runs: ours has been replaced by it
    bool mapped = true;   ///< something of it
  };
  /// Its exit need not be waited for: nothing is known of which of its threads were counted.
  static constexpr long kManyThreads = 1L << 40;
  static constexpr const char* kUnnamedProgram = "(unnamed)";
  struct Running {
    std::uint64_t looks = 0;  ///< that found it running, since it was last sampled; or all, if the kernel is hidden
    Stack stack;              ///< where it was last sampled
    std::string program;
    SampleKinds kinds;  ///< of one sample
    /// Where it was sampled in user mode, if the kernel is hidden: which of the looks these stand for is known at the
    /// end.
    std::map<Fill, std::map<Stack, std::uint64_t, ByPlace>> sampled;
  };

  [[nodiscard]] std::chrono::milliseconds pause() const;
  void read_events();
  void find_files(PerfEvent& event);
  void work();
  void take_samples();
  void take_events();
  void process(std::uint64_t before_ns);
  void apply(PerfEvent& event);
  void apply_fork(const PerfEvent& event);
  void apply_sample(const PerfEvent& event);
  // profile_recorder_faults.cc
  void apply_fault(const PerfEvent& event);
  void apply_return(const PerfEvent& event);
  void tell_change(const PerfEvent& event);
  bool has_time();
  void scale_faults();
  void attach();
  void look_around();
  void count_running();
  // Where the kernel's time may not be sampled (profile_recorder_account.cc):
  void read_clocks();
  void account();
  void divide_looks(const ThreadId& thread, const Running& running);
  void add_accounted(const ThreadId& thread, const std::string& program, Frame where, std::uint64_t samples);
  void count(const ThreadId& thread, const Stack& stack, const SampleKinds& kinds, std::uint64_t samples);
  Process* known(std::uint32_t pid);
  Process* join(std::uint32_t pid);
  std::string thread_name(const ThreadId& thread);

  ProfileOptions options_;
  const KernelSymbols& kernel_;  ///< read before anything is sampled
  ProfileData data_;
  PerfSampler sampler_;
  WallSampler wall_;
  Each each_;
  ThreadClock clock_;
  std::uint64_t faults_before_ = 0;               ///< counted before ready_ns_
  std::uint64_t faults_counted_ = 0;              ///< when finish() was called
  std::map<std::uint32_t, std::string> clocked_;  ///< the programs whose threads are watched, by process
  std::vector<PerfEvent> pending_;
  std::map<std::uint32_t, Process> processes_;
  std::set<std::uint32_t> strangers_;  ///< of an open scope: threads of the kernel, and we
  std::map<ThreadId, std::string> thread_names_;
  std::map<ThreadId, Running> running_;
  std::atomic<bool> done_ = false;
  std::atomic<bool> ready_ = false;
  std::uint64_t ready_ns_ = 0;  ///< CLOCK_MONOTONIC; 0: from the begin
  // The kernel's buffers are emptied by a thread that does nothing else: the first sample of a large program takes the
  // other one longer than they last.
  std::mutex mutex_;
  std::vector<PerfEvent> incoming_;  ///< under the mutex, as the next four
  std::uint64_t newest_ns_ = 0;
  std::uint64_t complete_ns_ = 0;  ///< all that happened before is there
  std::uint64_t dropped_ = 0;
  std::uint64_t skipped_ = 0;                  ///< samples that there was no time to unwind
  std::int64_t work_began_ns_ = 0;             ///< CLOCK_MONOTONIC
  std::atomic<std::int64_t> finished_ns_ = 0;  ///< when finish() was called
  /// Of each program that was started: found while it runs, for unwinding may be far behind.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::shared_ptr<PerfMap>> maps_;
  ProcessFiles files_;
  Worker reader_;
  Worker thread_;
};

}  // namespace zerotax
