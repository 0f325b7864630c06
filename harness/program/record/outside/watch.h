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
  std::vector<NamedFrame> frames;  ///< innermost first, without the function that stored the zeros
  std::uint64_t samples = 0;       ///< number of CPU samples
};

/// All data about a program that was watched from outside.
struct OutsideData {
  std::vector<std::string> command;
  std::string program;  ///< path
  Watched watched = Watched::kCommand;
  std::optional<pid_t> pid;             ///< PID of a process that was already running
  std::string cgroup;                   ///< path
  std::size_t others = 0;               ///< number of other users' processes in the scope, which were not watched
  std::optional<ForegroundResult> run;  ///< result of a program that was started
  bool ended = false;
  std::int64_t began_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t wall_ns = 0;
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  PageCounts::Counts counts;
  bool counts_joined = false;     ///< whether `counts` cover the whole cgroup, including processes that joined the
                                  ///< cgroup
  bool pages_follow = false;      ///< see PageCounts::pages_follow()
  bool counts_whole = false;      ///< whether `counts` include faults that the kernel itself takes, as in a read into
                                  ///< fresh memory
  bool light = false;             ///< whether the watch used no tracepoints and no counting events in the program's
                                  ///< threads
  bool forked = false;            ///< whether a process forked during the watch
  std::uint64_t tree_faults = 0;  ///< minor faults in /proc, of the processes and of children that the processes waited
                                  ///< for
  std::string why_no_pages;
  std::uint64_t faults_before_exec = 0;                    ///< faults of `run` before its exec, which do not belong to
                                                           ///< the program
  Count throttled_ns = NotAvailable{"several processes"};  ///< time for which a CPU quota stopped the program's control
                                                           ///< group
  std::uint64_t huge_bytes = 0;  ///< bytes in huge pages that any program on this machine populated during the watch
  std::uint64_t huge_shared_bytes = 0;  ///< bytes in huge pages of shared memory that any program on this machine
                                        ///< populated during the watch
  std::string denied;                   ///< why nothing was sampled; empty if samples were taken
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
  Measured<ForkCounts> forks;
};

/// Watches a program by the kernel's counts and samples. The watch never writes into the program and never stops it.
class OutsideWatch {
 public:
  /// Watches the program that the calling thread starts next.
  OutsideWatch();
  /// Watches running processes. Throws UsageError if the processes have ended.
  OutsideWatch(WatchScope& scope, bool sizes);
  OutsideWatch(const OutsideWatch&) = delete;
  OutsideWatch& operator=(const OutsideWatch&) = delete;

  /// Returns all data but command, program, run and the times of the run. Call this once.
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
  Places<std::uint64_t> stores_;  ///< for each place, the number of samples in stores of zeros
  PageCounts pages_;
  std::unique_ptr<StoreSizesWatch> sizes_;
  std::unique_ptr<ProfileRecorder> recorder_;
};

/// Runs and watches a program to its end. `words` is the command, and `program` the program's file. Throws UsageError
/// if the program could not be started.
OutsideData watch_command(const std::vector<std::string>& words, const std::string& program);

/// Watches running processes for a number of seconds, or until a signal asks to stop. A single process is watched at
/// most until it ends. `sizes`: count every store of zeros. Throws MachineError if the kernel does not permit this.
OutsideData watch_scope(WatchScope scope, double seconds, bool sizes);

}  // namespace zerotax::record
