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
  std::string log;  ///< path of the log, with %a for the shard
  std::vector<std::size_t> shards;
  bool exclusive = false;          ///< whether each task needs a node of its own
  unsigned cpus = 1;               ///< CPUs of a task that shares its node
  std::uint64_t memory_bytes = 0;  ///< memory of a task that shares its node
  std::vector<std::string> options;
};

/// One task of an array as squeue shows it.
struct SlurmTask {
  std::uint64_t job = 0;
  std::size_t shard = 0;
  std::string state;   ///< state such as "RUNNING"
  std::string node;    ///< name of the node; empty while the task waits
  std::string reason;  ///< reason for waiting

  [[nodiscard]] bool has_ended() const;
  /// Returns whether Slurm has given up the task. Only a user's release starts the task again.
  [[nodiscard]] bool is_held() const;
};

/// Checks that Slurm would accept a job with these options, without submitting the job. Throws MachineError if Slurm's
/// commands are missing, and UsageError with sbatch's message if the job would be refused.
void check_slurm(const Place& place);

/// Submits a job and returns its number. Throws UsageError with sbatch's message if the job is refused.
std::uint64_t submit_array(const Submission& submission);

/// Returns the tasks of all jobs with this name that Slurm lists, including recently ended ones (MinJobAge). Returns
/// nothing if Slurm's controller does not answer.
std::optional<std::vector<SlurmTask>> tasks_of(const std::string& name);

/// Cancels all tasks of a job.
void cancel_array(std::uint64_t job);

}  // namespace zerotax::fleet
