#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/fleet/fleet.h"

namespace zerotax::fleet {

/// An array of jobs to submit.
struct Submission {
  std::string script;  ///< path
  std::string name;
  std::string log;  ///< path, with %a for the shard
  std::vector<std::size_t> shards;
  bool exclusive = false;          ///< a node for each task
  unsigned cpus = 1;               ///< of a task that shares its node
  std::uint64_t memory_bytes = 0;  ///< the same
  std::vector<std::string> options;
};

/// One task of an array as squeue shows it.
struct SlurmTask {
  std::uint64_t job = 0;
  std::size_t shard = 0;
  std::string state;   ///< "RUNNING"
  std::string node;    ///< empty while it waits
  std::string reason;  ///< why it waits

  [[nodiscard]] bool has_ended() const;
  /// Slurm gave it up and will not start it again unless somebody releases it.
  [[nodiscard]] bool is_held() const;
};

/// Throws MachineError if Slurm's commands are not here; UsageError, with what sbatch says, if it would refuse a job of
/// these options. Nothing is submitted.
void check_slurm(const Place& place);

/// Returns the number of the job. Throws UsageError, with what sbatch says, if it is refused.
std::uint64_t submit_array(const Submission& submission);

/// The tasks of all jobs of this name that Slurm still knows, those that ended a while ago (MinJobAge) among them;
/// nothing if its controller does not answer.
std::optional<std::vector<SlurmTask>> tasks_of(const std::string& name);

/// Ends all tasks of a job.
void cancel_array(std::uint64_t job);

}  // namespace zerotax::fleet
