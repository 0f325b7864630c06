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
#include "observe/page_sharing.h"
#include "os/fault_events.h"
#include "os/process_pagemap.h"
#include "os/worker.h"

namespace zerotax {

/// Decides when faults are recorded one by one. Recording a fault costs the program as much as the fault itself, so
/// that many of them are recorded in windows: some hundred faults at random moments. In between they are counted only.
/// Times are in nanoseconds. No system call.
class FaultBudget {
 public:
  /// When something is asked.
  struct Now {
    std::uint64_t ns;      ///< CLOCK_MONOTONIC
    std::uint64_t cpu_ns;  ///< that the program has used, of all its processes
  };

  /// Faults that are recorded in a second of the program's CPU time at most. One of these costs it some 0.7 to 3 us, so
  /// that it is held up for 1 to 3 % of that time.
  static constexpr double kPerSecond = 10'000;
  /// Faults that are recorded before the rate limits recording. All faults of a short program are recorded, because few
  /// windows say little about it. These faults cost a program at most one second, once.
  static constexpr double kAtOnce = 1'000'000;
  /// Seconds of CPU time in a second that count: somebody has to read what is recorded.
  static constexpr std::uint64_t kMostCpus = 3;
  /// A window's, on average; fewer where the budget is small.
  static constexpr double kWindow = 500;
  /// The time spent on opening a window, at most so often: one part in so many.
  static constexpr std::uint64_t kShare = 20;

  explicit FaultBudget(std::uint64_t seed, double per_second = kPerSecond, double at_once = kAtOnce)
      : random_(seed), per_second_(per_second), at_once_(at_once), left_(at_once) {}
  /// A budget of kPerSecond and kAtOnce. ZEROTAX_FAULTS_PER_SECOND in the environment replaces kPerSecond, and 2.4
  /// times its value replaces kAtOnce. A low value samples even few faults, a high one records many.
  static FaultBudget chosen(std::uint64_t seed);

  /// So many more were recorded. False: it is enough for a while.
  bool spend(std::uint64_t faults, Now now);
  /// Recording has ended.
  void close(Now now);
  /// Whether it is time to begin again.
  bool may_open(Now now);
  /// Recording has begun, which took so long.
  void open(std::uint64_t took_ns) { opening_ns_ = took_ns; }
  /// Whether little is left.
  [[nodiscard]] bool is_low() const { return left_ < per_second_ / 5; }

 private:
  void refill(Now now);

  std::mt19937_64 random_;
  double per_second_;
  double at_once_;
  double left_;
  double wanted_ = 0;  ///< before the next window
  Now refilled_{0, 0};
  std::uint64_t closed_ns_ = 0;
  std::uint64_t opening_ns_ = 0;
};

/// Hands out a number in whole parts, as equal as they can be, that add up to it.
class Shares {
 public:
  Shares() = default;
  Shares(std::uint64_t all, std::uint64_t parts) : all_(all), parts_(parts) {}
  /// The next part; 1 after the last one, and where there was nothing to share.
  std::uint64_t next();

 private:
  std::uint64_t all_ = 0;
  std::uint64_t parts_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t handed_out_ = 0;
};

/// Which faults are counted, and when they are reported.
struct FaultTracerOptions {
  double interval_s = 1;
  bool first_child = false;  ///< only those of the first process that is forked
  std::string name_prefix;   ///< only those of processes whose short name starts with this
  /// Called in the tracer's thread for each interval: with `complete` once at its end, and before that a few times a
  /// second if `while_running`.
  std::function<void(const FaultInterval&, bool complete)> tell;
  bool while_running = false;
  std::string faults_file;       ///< each fault is written there (FaultLog); empty: nowhere
  bool stacks = false;           ///< takes the stack with each fault in user mode, for the functions of scripts in it
  std::size_t buffer_bytes = 0;  ///< of the kernel, for each CPU; 0: FaultEvents' own choice
  bool sample = false;           ///< beyond a rate (FaultBudget) some faults are recorded, and all counted
  std::chrono::milliseconds pause{10};  ///< between two readings of the buffers
  /// Called in the tracer's thread for each fault that is counted.
  std::function<void(const Fault&, FaultClass)> each;
  /// Called in the tracer's thread for every event of the kernel, in the order of time.
  std::function<void(const FaultEvent&)> event;
};

/// Follows the page faults of a process and of all that it starts, in a thread of its own.
class FaultTracer {
 public:
  /// Of the program that the calling thread starts next, from its exec on. Throws MachineError.
  explicit FaultTracer(FaultTracerOptions options);
  /// Follows a running process and its descendants. Throws MachineError, UsageError.
  FaultTracer(FaultTracerOptions options, pid_t pid);
  ~FaultTracer();
  FaultTracer(const FaultTracer&) = delete;
  FaultTracer& operator=(const FaultTracer&) = delete;

  /// Ends tracing. Once.
  FaultData finish();

 private:
  struct Process {
    TracedProcess told;
    AddressSpace space;
    std::map<std::pair<std::string, std::uint64_t>, MappingFaults> mappings;  ///< by name and begin
    FilledPages filled;
    bool alive = true;
    bool forked = false;  ///< since it was last looked at from scratch
    bool shares = false;  ///< it may share pages with a process that it forked, or that forked it
    std::uint64_t space_read_ns = 0;
    std::uint64_t cpu_ns = 0;        ///< CPU time that it had used when last asked
    std::uint64_t recorded = 0;      ///< faults, each counted once
    bool main_thread_ended = false;  ///< before its other threads
  };

  /// A fault that was counted.
  struct Counted {
    Fault fault;
    FaultClass kind;
    std::optional<FaultCaller> caller;
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
  /// At a process that is watched all along; that has just been joined; after some time in which faults were not
  /// recorded, with or without a fork.
  enum class Look { kKnown, kJoined, kAnew, kAnewAfterFork };
  void look(pid_t pid, Look how);
  void look_for_huge_page(pid_t pid, std::uint64_t page, std::uint64_t time_ns, const Region& region);
  void close_intervals(std::uint64_t now_ns);
  void measure_memory(FaultInterval& interval);
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
  ProcessPagemaps pagemaps_;
  PageSharing sharing_{[this](pid_t pid, std::uint64_t page) {
    const auto entry = pagemaps_.entry(pid, page);
    return !entry || entry->populated();  // if the process is gone, its end will be reported at the right time
  }};
  bool recording_ = true;  ///< faults, one by one
  FaultBudget budget_;
  std::uint64_t lost_ = 0;  ///< events, by the last query
  std::uint64_t lost_asked_ns_ = 0;
  std::uint64_t opened_ns_ = 0;  ///< since then
  std::uint64_t gap_ = 0;        ///< faults before that which the next ones stand for, too
  std::uint64_t used_ns_ = 0;    ///< of CPU time, by the processes
  std::uint64_t accounted_ = 0;  ///< handled faults that have been counted, and those that they stand for
  Shares shares_;                ///< what each of the next ones stands for
  std::vector<Counted> slice_;   ///< counted last, together
  ClassCounts slice_counts_;
  std::optional<FaultSampling> sampling_;
  std::uint64_t recorded_ = 0;
  ClassCounts recorded_counts_;  ///< of counted processes, each fault once
  /// Faults that may have been of a class, where only their addresses are known.
  struct Possible {
    std::uint64_t copies = 0;
    std::uint64_t copies_if_merged = 0;  ///< additional copies, if the kernel merges pages
    std::uint64_t zero_fills = 0;
  } possible_;
  bool merges_ = merges_pages();
  /// Processes without an event since their exec, and the time of that exec.
  std::map<pid_t, std::uint64_t> executing_;
  /// A process's state when it is watched again. `faults` is empty if it is not watched again.
  struct Resumed {
    std::optional<std::uint64_t> faults;
    std::vector<ProcessMapping> mappings;
  };
  std::map<pid_t, Resumed> lost_watch_;
  std::vector<UnwatchedProcess> unwatched_;
  std::uint64_t handled_ = 0;                                           ///< when tracing ended
  std::map<pid_t, std::unordered_set<std::uint64_t>> looked_for_huge_;  ///< first pages of such, since the last look
  std::map<pid_t, Process> processes_;
  std::vector<pid_t> order_;
  std::vector<TracedProcess> past_;  ///< whose number was given to another one
  std::uint64_t applied_ns_ = 0;     ///< time of the event that was applied last
  pid_t root_ = 0;
  pid_t first_child_ = 0;
  std::uint64_t start_ns_ = 0;
  FaultInterval interval_;
  std::vector<FaultInterval> intervals_;
  std::uint64_t memory_due_ns_ = 0;
  FaultSites sites_;
  FaultScripts scripts_;
  std::unique_ptr<FaultLog> log_;
  std::atomic<bool> done_ = false;
  Worker thread_;
};

}  // namespace zerotax
