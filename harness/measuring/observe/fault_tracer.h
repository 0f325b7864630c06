#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "observe/fault.h"
#include "observe/fault_data.h"
#include "observe/fault_sites.h"
#include "observe/fork_tally.h"
#include "observe/page_sharing.h"
#include "observe/python_words.h"
#include "os/fault_events.h"
#include "os/process_pagemap.h"
#include "os/worker.h"

namespace zerotax {

/// Decides when to record individual faults. Recording a fault costs the program as much as the fault itself. If a
/// program takes many faults, recording is limited to windows of some hundred faults, which begin at random moments.
/// Between the windows, faults are only counted. Times are in nanoseconds. This class makes no system call.
class FaultBudget {
 public:
  /// The current time by two clocks.
  struct Now {
    std::uint64_t ns;      ///< CLOCK_MONOTONIC
    std::uint64_t cpu_ns;  ///< CPU time used so far by all processes of the program
  };

  /// Maximum number of faults recorded per second of the program's CPU time. Recording a fault takes 0.7 to 3 µs, so
  /// this rate slows the program down by 1 to 3 %.
  static constexpr double kPerSecond = 10'000;
  /// Number of faults recorded before the rate limits recording. All faults of a short program are recorded, because
  /// few windows say little about a short program. These faults cost a program at most one second, once.
  static constexpr double kAtOnce = 1'000'000;
  /// Maximum CPU seconds that count toward the budget per second of elapsed time. A larger budget could record faults
  /// faster than they are read.
  static constexpr std::uint64_t kMostCpus = 3;
  /// Average number of faults in a window; smaller if the budget is small.
  static constexpr double kWindow = 500;
  /// Opening windows takes at most 1/kShare of the elapsed time.
  static constexpr std::uint64_t kShare = 20;

  explicit FaultBudget(std::uint64_t seed, double per_second = kPerSecond, double at_once = kAtOnce)
      : random_(seed), per_second_(per_second), at_once_(at_once), left_(at_once) {}
  /// Returns a budget of kPerSecond and kAtOnce. The environment variable ZEROTAX_FAULTS_PER_SECOND replaces
  /// kPerSecond, and 2.4 times its value replaces kAtOnce. With a low value, even few faults are sampled. With a high
  /// value, many faults are recorded.
  static FaultBudget chosen(std::uint64_t seed);

  /// Subtracts recorded faults from the budget. Returns false if recording must pause.
  bool spend(std::uint64_t faults, Now now);
  /// Marks that recording has paused.
  void close(Now now);
  /// Returns whether recording may start again.
  bool may_open(Now now);
  /// Marks that recording has started, and that starting took `took_ns`.
  void open(std::uint64_t took_ns) { opening_ns_ = took_ns; }
  /// Returns whether little of the budget is left.
  [[nodiscard]] bool is_low() const { return left_ < per_second_ / 5; }

 private:
  void refill(Now now);

  std::mt19937_64 random_;
  double per_second_;
  double at_once_;
  double left_;
  double wanted_ = 0;  ///< budget required before the next window
  Now refilled_{0, 0};
  std::uint64_t closed_ns_ = 0;
  std::uint64_t opening_ns_ = 0;
};

/// Divides a number into whole parts that are as equal as possible and whose sum is the number.
class Shares {
 public:
  Shares() = default;
  Shares(std::uint64_t all, std::uint64_t parts) : all_(all), parts_(parts) {}
  /// Returns the next part; 1 after the last part, or if there was nothing to divide.
  std::uint64_t next();

 private:
  std::uint64_t all_ = 0;
  std::uint64_t parts_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t handed_out_ = 0;
};

/// Selects which faults are counted and when they are reported.
struct FaultTracerOptions {
  double interval_s = 1;
  bool first_child = false;  ///< count only faults of the first forked process
  std::string name_prefix;   ///< count only faults of processes whose short name starts with this prefix
  /// Called in the tracer's thread at the end of each interval, with `complete`. With `while_running`, also called a
  /// few times a second during the interval.
  std::function<void(const FaultInterval&, bool complete)> tell;
  bool while_running = false;
  std::string faults_file;       ///< file that receives each fault (FaultLog); empty for no file
  bool stacks = false;           ///< record the stack of each fault in user mode, to find the functions of scripts
  std::size_t buffer_bytes = 0;  ///< size of the kernel's buffer for each CPU; 0 for FaultEvents' default
  bool sample = false;           ///< above a rate (FaultBudget), record only some faults; all are counted
  std::chrono::milliseconds pause{10};  ///< pause between two readings of the buffers
  /// Called in the tracer's thread for each counted fault.
  std::function<void(const Fault&, FaultClass)> each;
  /// Called in the tracer's thread for every event of the kernel, in chronological order.
  std::function<void(const FaultEvent&)> event;
};

/// Follows the page faults of a process and its descendants in a separate thread.
class FaultTracer {
 public:
  /// Follows the program that the calling thread starts next, from its exec on. Throws MachineError if faults cannot be
  /// watched.
  explicit FaultTracer(FaultTracerOptions options);
  /// Follows a running process and its descendants. Throws MachineError if faults cannot be watched, or UsageError if
  /// the process has ended.
  FaultTracer(FaultTracerOptions options, pid_t pid);
  ~FaultTracer();
  FaultTracer(const FaultTracer&) = delete;
  FaultTracer& operator=(const FaultTracer&) = delete;

  /// Ends tracing and returns the result. Call this function once.
  FaultData finish();

 private:
  struct Process {
    TracedProcess told;
    AddressSpace space;
    std::map<std::pair<std::string, std::uint64_t>, MappingFaults> mappings;  ///< mappings by name and start
    FilledPages filled;
    FilledPages of_files;  ///< the process's own copies of pages of private files, inherited by forked children
    bool alive = true;
    bool forked = false;  ///< whether the process forked since all its pages were last read
    bool shares = false;  ///< whether the process may share pages with its parent or a child
    std::uint64_t space_read_ns = 0;
    std::uint64_t cpu_ns = 0;        ///< CPU time used at the last reading
    std::uint64_t recorded = 0;      ///< number of recorded faults, not of the faults that they represent
    bool main_thread_ended = false;  ///< whether the main thread ended before other threads
    SharedMemory sharing;
    std::uint64_t private_bytes = 0;  ///< private memory of the process when it last forked
    std::uint64_t private_read_ns = 0;
  };

  /// A counted fault.
  struct Counted {
    Fault fault;
    FaultClass kind;
    std::optional<FaultCaller> caller;
    StoreTarget target;  ///< of a copy
  };

  void begin_log();
  void work();
  void process(std::uint64_t before_ns);
  void note_scripts(const FaultEvent& event);
  // fault_tracer_watch.cc
  void notice_execs(std::size_t known);
  void resume(pid_t pid);
  [[nodiscard]] bool is_undecided() const;
  void apply_exit(Process& process, const FaultEvent& event);
  void apply_lost_watch(Process& process);
  void bound_counts(FaultData& data) const;
  void apply(const FaultEvent& event);
  void count(const Fault& fault);
  void tally(const Counted& counted, std::uint64_t times);
  // fault_tracer_sampling.cc
  void spend(std::size_t known);
  bool loses_events();
  [[nodiscard]] bool waits_for_more() const;
  [[nodiscard]] std::chrono::microseconds pause() const;
  [[nodiscard]] std::uint64_t ended_before(std::uint64_t before_ns);
  void process_slice(std::uint64_t before_ns);
  void stand_for(const std::vector<Counted>& slice, std::uint64_t faults);
  void open_window();
  void close_window();
  void settle();
  void look_anew();
  FaultBudget::Now used();
  FaultClass guess(const Fault& fault, const Region* region);
  void bound(const Process& process, const Region* region, FaultClass kind);
  static bool merges_pages();
  /// State of a process when its pages are read: watched from its start, newly traced, or unrecorded for a time
  /// (without or with a fork).
  enum class Look { kKnown, kJoined, kAnew, kAnewAfterFork };
  void look(pid_t pid, Look how);
  void look_for_huge_page(pid_t pid, std::uint64_t page, std::uint64_t time_ns, const Region& region);
  void close_intervals(std::uint64_t now_ns);
  // fault_tracer_memory.cc
  void measure_memory(FaultInterval& interval);
  [[nodiscard]] bool knows_all_processes() const;
  void settle_sharing(std::uint64_t now_ns);
  std::optional<std::uint64_t> shared_bytes(const Process& process);
  void note_inheritance(Process& parent, Process& child);
  void note_sharing(Process& process, const Fault& fault, FaultClass kind, std::uint64_t times);
  StoreTarget target_of(const Process& process, const Fault& fault, const Region* region);
  void note_change(const Process& process, std::uint64_t time_ns, bool began);
  const Region* find(Process& process, std::uint64_t address);
  Process& start(pid_t pid, pid_t parent);
  void read_space(Process& process, bool again);
  [[nodiscard]] bool counted(const Process& process) const;
  [[nodiscard]] bool shown(const Process& process) const;
  [[nodiscard]] double since_start(std::uint64_t time_ns) const;
  [[nodiscard]] FaultInterval current(std::uint64_t now_ns) const;

  FaultTracerOptions options_;
  std::uint64_t interval_ns_;
  std::unique_ptr<FaultEvents> events_;
  std::vector<FaultEvent> pending_;
  FaultPairing pairing_;
  ForkTally forks_;
  ProcessPagemaps pagemaps_;
  PageSharing sharing_{[this](pid_t pid, std::uint64_t page) {
    const auto entry = pagemaps_.entry(pid, page);
    return !entry || entry->populated();  // an ended process is assumed to have the page until its end is reported
  }};
  bool recording_ = true;  ///< whether individual faults are recorded
  FaultBudget budget_;
  std::uint64_t lost_ = 0;  ///< number of lost events at the last query
  std::uint64_t lost_asked_ns_ = 0;
  std::uint64_t opened_ns_ = 0;  ///< start of the current window
  std::uint64_t gap_ = 0;        ///< unrecorded faults that the faults of the current window also represent
  std::uint64_t used_ns_ = 0;    ///< CPU time used by the processes
  std::uint64_t accounted_ = 0;  ///< handled faults that were counted, including unrecorded faults that recorded faults
                                 ///< represent
  Shares shares_;                ///< number of faults that each of the next recorded faults represents
  std::vector<Counted> slice_;   ///< faults of the last slice of a window
  ClassCounts slice_counts_;
  std::optional<FaultSampling> sampling_;
  std::uint64_t recorded_ = 0;
  ClassCounts recorded_counts_;  ///< recorded faults of counted processes, without the faults that they represent
  /// Upper bounds for the classes, if only the addresses of faults are known.
  struct Possible {
    std::uint64_t copies = 0;
    std::uint64_t copies_if_merged = 0;  ///< additional copies that are possible only if KSM merges pages
    std::uint64_t zero_fills = 0;
  } possible_;
  bool merges_ = merges_pages();
  /// Processes without an event since their exec, and the time of that exec.
  std::map<pid_t, std::uint64_t> executing_;
  /// The state of a process when watching resumed; without `faults` if watching never resumed.
  struct Resumed {
    std::optional<std::uint64_t> faults;
    std::vector<ProcessMapping> mappings;
  };
  std::map<pid_t, Resumed> lost_watch_;
  std::vector<UnwatchedProcess> unwatched_;
  std::uint64_t handled_ = 0;  ///< handled faults when tracing ended
  /// First pages of the possible huge pages that were examined since all pages were last read.
  std::map<pid_t, std::unordered_set<std::uint64_t>> looked_for_huge_;
  std::map<pid_t, PythonWords> python_;
  std::map<pid_t, Process> processes_;
  std::vector<pid_t> order_;
  std::vector<TracedProcess> past_;  ///< ended processes whose PIDs were reused
  std::uint64_t applied_ns_ = 0;     ///< time of the last applied event
  pid_t root_ = 0;
  pid_t first_child_ = 0;
  std::uint64_t start_ns_ = 0;
  FaultInterval interval_;
  std::vector<FaultInterval> intervals_;
  std::uint64_t memory_due_ns_ = 0;
  std::uint64_t sharing_read_ns_ = 0;  ///< time of the last reading of shared memory; 0 if its counts are settled
  std::size_t sharing_interval_ = 0;   ///< index of the interval with that reading
  FaultSites sites_;
  FaultScripts scripts_;
  std::unique_ptr<FaultLog> log_;
  std::atomic<bool> done_ = false;
  Worker thread_;
};

}  // namespace zerotax
