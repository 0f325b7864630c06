#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/fleet/fleet.h"
#include "run/fleet/job_folder.h"
#include "run/fleet/slurm.h"
#include "run/progress.h"

namespace zerotax::fleet {

using Clock = std::chrono::steady_clock;

/// A job of a fleet, from its submission to its end.
class SlurmJob {
 public:
  /// Opens the job's folder, or creates it and divides the work. Throws UsageError if the folder belongs to other work.
  SlurmJob(const Work& work, const std::set<std::string>& missing, const Place& place, const JobRequest& request);

  /// Submits the missing shards, unless an earlier job is still in the queue.
  void submit();
  /// Waits for the end of all tasks. Returns false if a signal requested termination. Throws the same errors as run()
  /// in fleet.h.
  bool wait();

  [[nodiscard]] const std::map<std::string, ItemResult>& results() const { return results_; }

 private:
  /// Collects results that tasks have finished since the last call.
  void collect();
  void look_at_tasks();
  /// Cancels the job and waits for its end.
  void stop();
  /// Throws an error if tasks have ended without results, so that more waiting is useless. `waited` is the time since
  /// wait() began.
  void check_tasks(Clock::duration waited);
  /// Returns whether a task has ended although this host does not see even its log.
  [[nodiscard]] bool is_silent(const SlurmTask& task) const;
  /// Throws the UsageError for a folder that a node does not see.
  [[noreturn]] void give_up(const SlurmTask& task);
  /// Throws the MachineError for tasks that ended without all their results.
  [[noreturn]] void report_failures() const;
  [[nodiscard]] bool is_done() const { return missing_.empty(); }
  [[nodiscard]] bool is_missing(std::size_t shard) const;
  [[nodiscard]] std::string name() const { return "zerotax-" + plan_.token; }
  [[nodiscard]] std::string queue_text() const;

  const Place& place_;
  JobFolder folder_;
  JobPlan plan_;
  bool made_ = false;  ///< whether this object has created the folder
  unsigned cpus_;
  std::uint64_t memory_bytes_;
  std::map<std::string, double> seconds_;  ///< expected duration of each item
  std::set<std::string> missing_;
  std::map<std::string, ItemResult> results_;
  std::uint64_t job_ = 0;
  std::vector<SlurmTask> tasks_;
  bool known_ = false;                               ///< whether Slurm has listed the job
  std::map<std::size_t, Clock::time_point> silent_;  ///< shards whose task ended without a visible log, and the time of
                                                     ///< this discovery
  std::optional<Clock::time_point> ended_;           ///< time at which all tasks were first seen to have ended
  Progress progress_;
};

/// Measures on the nodes of a Slurm cluster, and passes on the results at the job's end.
class SlurmHosts : public Executor {
 public:
  SlurmHosts(const Place& place, const JobRequest& request) : place_(place), request_(request) {}
  bool run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) override;

 private:
  const Place& place_;
  const JobRequest& request_;
};

}  // namespace zerotax::fleet
