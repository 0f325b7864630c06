#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "observe/profile_recorder.h"
#include "os/cgroup.h"
#include "os/foreground.h"
#include "os/page_counts.h"
#include "record/outside/cpu_samples.h"
#include "record/outside/holdings_watch.h"
#include "record/outside/memory_places.h"
#include "record/outside/places.h"
#include "record/outside/scope.h"
#include "record/outside/store_sizes.h"

namespace zerotax::record {

/// A call stack under which zeros were stored.
struct StorePlace {
  std::vector<NamedFrame> frames;  ///< innermost first, without the function that stored them
  std::uint64_t samples = 0;       ///< of the CPU
};

/// All that was seen of a program from outside.
struct OutsideData {
  std::vector<std::string> command;
  std::string program;  ///< path
  Watched watched = Watched::kCommand;
  std::optional<pid_t> pid;             ///< of a process that ran already
  std::string cgroup;                   ///< path
  std::size_t others = 0;               ///< processes of other users that are in it, and were left out
  std::optional<ForegroundResult> run;  ///< of a program that was started
  bool ended = false;
  std::int64_t began_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t wall_ns = 0;
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  PageCounts::Counts counts;
  bool counts_joined = false;     ///< what joined the cgroup is in them, and nothing else
  bool pages_follow = false;      ///< PageCounts::pages_follow()
  bool counts_whole = false;      ///< faults that the kernel took for the program are counted, too
  bool light = false;             ///< without tracepoints, and without counting events in its threads
  bool forked = false;            ///< a process forked during the watch
  std::uint64_t tree_faults = 0;  ///< minor ones, as /proc has them of the processes and the children they waited for
  std::string why_no_pages;
  std::uint64_t faults_before_exec = 0;                    ///< of `run`: not the program's
  Count throttled_ns = NotAvailable{"several processes"};  ///< for which a CPU quota stopped its control group
  std::uint64_t huge_bytes = 0;  ///< bytes in huge pages that any program on this machine populated during the watch
  std::uint64_t huge_shared_bytes = 0;  ///< the same of shared memory
  std::string denied;                   ///< why nothing was sampled; empty: samples were taken
  ProfileData profile;
  CpuSamples cpu;
  std::vector<FaultPlace> places;
  std::vector<StorePlace> stores;
  std::vector<ReturnPlace> returns;
  std::uint64_t return_samples = 0;
  SampledFaults faults;
  SampledFaults zero_fills;
  SampledFaults unsure;
  SampledFaults unread;
  SampledFaults shared;
  SampledFaults copied;
  std::map<pid_t, HeldProcess> processes;
  std::optional<StoreSizes> store_sizes;
};

/// Watches a program by what the kernel counts and samples: nothing is written into it, and it is never stopped.
class OutsideWatch {
 public:
  /// The program that the calling thread starts next.
  OutsideWatch();
  /// Processes that run. Throws UsageError if they have ended.
  OutsideWatch(WatchScope& scope, bool sizes);
  OutsideWatch(const OutsideWatch&) = delete;
  OutsideWatch& operator=(const OutsideWatch&) = delete;

  /// All but command, program, run and the times of the run. Once.
  OutsideData finish();

 private:
  void start_sampling(const PerfScope& scope, unsigned hz, std::uint32_t stack_bytes);
  void add_cgroup_time();
  void add_stores();

  OutsideData data_;
  std::vector<pid_t> processes_;
  PerfScope perf_;
  std::string cgroup_folder_;
  std::optional<CgroupTime> time_before_;
  std::optional<Throttling> throttling_;
  std::optional<std::uint64_t> huge_before_;
  std::optional<std::uint64_t> shared_before_;
  HoldingsWatch holdings_;
  FaultPlaces places_;
  ReturnPlaces returns_;
  Places<std::uint64_t> stores_;  ///< samples in stores of zeros
  PageCounts pages_;
  std::unique_ptr<StoreSizesWatch> sizes_;
  std::unique_ptr<ProfileRecorder> recorder_;
};

/// Runs a program to its end. `words`: its command; `program`: its file. Throws UsageError if it could not be started.
OutsideData watch_command(const std::vector<std::string>& words, const std::string& program);

/// Processes that run, for so many seconds or until a signal asks for an end; a single one until it ends.
/// `sizes`: with every store of zeros. Throws MachineError if that is not permitted.
OutsideData watch_scope(WatchScope scope, double seconds, bool sizes);

}  // namespace zerotax::record
