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

/// Callbacks that observe the memory of sampled processes, in particular page faults. The recorder's thread calls these
/// functions, in chronological order.
struct FaultListener {
  /// Called with a mapping (kMap, kData), a fork, an exec, or the end of a thread, before the recorder itself applies
  /// the event.
  std::function<void(const PerfEvent&)> change;
  /// Called with a sample that represents `count` faults, and with the user part of the sample's stack, outermost frame
  /// first.
  std::function<void(const PerfEvent&, const Stack&, Unwinder&)> fault;
  /// Called with a sample of calls that return memory (PerfEvent::Kind::kReturn), and with the sample's stack.
  std::function<void(const PerfEvent&, const Stack&, Unwinder&)> returned;
  /// Called with a sample of the clock, and with the sample's whole stack.
  std::function<void(const PerfEvent&, const Stack&, Unwinder&)> sample;
};

struct ProfileOptions {
  unsigned hz = 997;  ///< samples per second of CPU time or, with `wall`, of elapsed time
  /// Sample every thread by elapsed time, whether blocked or running. Stacks of running threads come from samples of
  /// the CPU.
  bool wall = false;
  bool by_thread = false;
  PerfScope scope{};                      ///< scope of the running processes; empty for the program that the calling
                                          ///< thread starts
  std::optional<FaultListener> faults{};  ///< if set, page faults are sampled by UserFaults::kByRate
  std::uint32_t stack_bytes = 16 << 10;   ///< bytes of stack copied per sample
};

/// Takes samples and unwinds them in a thread of its own. The samples are either of running processes, or of one
/// program and its descendants, which the calling thread starts between construction and finish(). If the thread starts
/// a second program, that program may get no samples. The kernel exchanges inherited events between threads that share
/// them, and "enabled by exec" takes effect only once for an event. If kernel time must not be sampled, it is taken
/// from the threads' own clocks (ThreadClock), and page faults are sampled where they occur. For running processes,
/// these clocks are read even if sampling is not allowed at all.
class ProfileRecorder {
 public:
  /// Called in the recorder's thread for each sample, with its stack.
  using Each = std::function<void(const PerfEvent&, const Stack&)>;

  /// Throws MachineError if a program to be started cannot be sampled, and UsageError if the processes have ended.
  explicit ProfileRecorder(ProfileOptions options, Each each = {});
  explicit ProfileRecorder(unsigned hz, Each each = {}) : ProfileRecorder(ProfileOptions{hz}, std::move(each)) {}
  ~ProfileRecorder();
  ProfileRecorder(const ProfileRecorder&) = delete;
  ProfileRecorder& operator=(const ProfileRecorder&) = delete;

  /// Waits until the state of already running processes is known. Earlier samples are not counted.
  void wait_ready();
  /// Ends sampling and returns the result. Call this function once. Throws the error that ended sampling early, if any.
  ProfileData finish();

 private:
  using Clock = std::chrono::steady_clock;
  using ThreadId = std::pair<std::uint32_t, std::uint32_t>;

  /// A forked process shares its parent's unwinder until one of the two maps something. Most forked processes map
  /// nothing, so the files of a program are opened only once, for the program's first sample.
  struct Process {
    std::string name;
    std::shared_ptr<Unwinder> unwinder;
    long threads = 1;
    bool started = true;  ///< whether exec has replaced zerotax with the program
    bool mapped = true;   ///< whether the process has mapped some of the program's code
  };
  /// Thread count of a process whose number of threads is unknown. The count never falls to 0, so the end of the
  /// process is not awaited.
  static constexpr long kManyThreads = 1L << 40;
  static constexpr const char* kUnnamedProgram = "(unnamed)";
  struct Running {
    std::uint64_t looks = 0;  ///< number of rounds that found the thread running: since its last sample or, if the
                              ///< kernel is hidden, in total
    Stack stack;              ///< stack of the last sample
    std::string program;
    SampleKinds kinds;  ///< kinds of the last sample
    /// Stacks sampled in user mode, if the kernel is hidden. Only at the end is it known how many rounds these stacks
    /// represent.
    std::map<Fill, std::map<Stack, std::uint64_t, ByPlace>> sampled;
  };

  [[nodiscard]] std::chrono::milliseconds pause() const;
  void read_events();
  void find_files(PerfEvent& event);
  void work();
  void take_samples();
  void take_events();
  void process(std::uint64_t before_ns);
  void apply(const PerfEvent& event);
  void apply_fork(const PerfEvent& event);
  void apply_exec(const PerfEvent& event);
  void apply_exit(const PerfEvent& event, Process& process);
  void apply_map(const PerfEvent& event, Process& process);
  void apply_sample(const PerfEvent& event);
  // profile_recorder_account.cc
  void apply_fault(const PerfEvent& event);
  void apply_return(const PerfEvent& event);
  void tell_change(const PerfEvent& event);
  bool has_time();
  void scale_faults();
  void attach();
  void look_around();
  // These functions are in profile_recorder_account.cc. All but the first are used if kernel time must not be sampled.
  void count_running();
  void read_clocks();
  void account();
  void divide_looks(const ThreadId& thread, const Running& running);
  void add_accounted(const ThreadId& thread, const std::string& program, Frame where, std::uint64_t samples);
  void count(const ThreadId& thread, const Stack& stack, const SampleKinds& kinds, std::uint64_t samples);
  Process* known(std::uint32_t pid);
  Process* join(std::uint32_t pid);
  std::string thread_name(const ThreadId& thread);

  ProfileOptions options_;
  const KernelSymbols& kernel_;  ///< kernel symbols, read before sampling begins
  ProfileData data_;
  PerfSampler sampler_;
  WallSampler wall_;
  Each each_;
  ThreadClock clock_;
  std::uint64_t faults_before_ = 0;               ///< faults counted before ready_ns_
  std::uint64_t faults_counted_ = 0;              ///< faults counted when finish() was called
  std::map<std::uint32_t, std::string> clocked_;  ///< names of the programs whose threads are watched, by process
  std::vector<PerfEvent> pending_;
  std::map<std::uint32_t, Process> processes_;
  std::set<std::uint32_t> strangers_;  ///< PIDs excluded from an open scope: kernel threads, and zerotax
  std::map<ThreadId, std::string> thread_names_;
  std::map<ThreadId, Running> running_;
  std::atomic<bool> done_ = false;
  std::atomic<bool> ready_ = false;
  std::uint64_t ready_ns_ = 0;  ///< CLOCK_MONOTONIC time from which samples count; 0 for all samples
  // Empties the kernel's buffers in a separate thread, because unwinding the first sample of a large program takes
  // longer than the buffers take to fill.
  std::mutex mutex_;
  std::vector<PerfEvent> incoming_;  ///< protected by the mutex, like the next four members
  std::uint64_t newest_ns_ = 0;
  std::uint64_t complete_ns_ = 0;  ///< all events before this time have been read
  std::uint64_t dropped_ = 0;
  std::uint64_t skipped_ = 0;                  ///< samples that were not unwound for lack of time
  std::int64_t work_began_ns_ = 0;             ///< CLOCK_MONOTONIC
  std::atomic<std::int64_t> finished_ns_ = 0;  ///< time at which finish() was called
  /// Perf maps of started programs. Each map is opened while the program runs, because unwinding may happen much later.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::shared_ptr<PerfMap>> maps_;
  ProcessFiles files_;
  Worker reader_;
  Worker thread_;
};

}  // namespace zerotax
