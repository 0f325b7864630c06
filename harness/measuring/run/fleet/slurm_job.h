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

/// A job of a fleet from its submission to its end.
class SlurmJob {
 public:
  /// Opens the job's folder, or makes it and cuts the work. Throws UsageError if the folder is of other work.
  SlurmJob(const Work& work, const std::set<std::string>& missing, const Place& place, const JobRequest& request);

  /// Submits what is missing, unless a job of ours is still in the queue.
  void submit();
  /// Waits for the end of all tasks, or of us: then it returns false. Throws as run() of fleet.h.
  bool wait();

  [[nodiscard]] const std::map<std::string, ItemResult>& results() const { return results_; }

 private:
  /// Takes over what tasks have finished since the last time.
  void collect();
  void look_at_tasks();
  /// Cancels the job, and waits for its end.
  void stop();
  /// Looks at the tasks, and throws if there is nothing left to wait for. `waited`: since wait() began.
  void check_tasks(Clock::duration waited);
  /// Whether a task ran to its end, and not even its log is here.
  [[nodiscard]] bool is_silent(const SlurmTask& task) const;
  /// Throws UsageError: the folder is not shared.
  [[noreturn]] void give_up(const SlurmTask& task);
  /// Throws MachineError: tasks have ended, and results are missing.
  [[noreturn]] void report_failures() const;
  [[nodiscard]] bool is_done() const { return missing_.empty(); }
  [[nodiscard]] bool is_missing(std::size_t shard) const;
  [[nodiscard]] std::string name() const { return "zerotax-" + plan_.token; }
  [[nodiscard]] std::string queue_text() const;

  const Place& place_;
  JobFolder folder_;
  JobPlan plan_;
  bool made_ = false;  ///< by us, just now
  unsigned cpus_;
  std::uint64_t memory_bytes_;
  std::map<std::string, double> seconds_;  ///< expected, of each item
  std::set<std::string> missing_;
  std::map<std::string, ItemResult> results_;
  std::uint64_t job_ = 0;
  std::vector<SlurmTask> tasks_;
  bool known_ = false;                               ///< Slurm has listed the job
  std::map<std::size_t, Clock::time_point> silent_;  ///< shards, and since when
  std::optional<Clock::time_point> ended_;           ///< since when all tasks have ended
  Progress progress_;
};

/// The nodes of a Slurm cluster: results are handed over when the job has ended.
class SlurmHosts : public Executor {
 public:
  SlurmHosts(const Place& place, const JobRequest& request) : place_(place), request_(request) {}
  bool run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) override;

 private:
  const Place& place_;
  const JobRequest& request_;
};

}  // namespace zerotax::fleet
