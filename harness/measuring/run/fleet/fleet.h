#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "run/fleet/work.h"

namespace zerotax::fleet {

/// Where work is done: here, or by the tasks of a Slurm job.
struct Place {
  bool slurm = false;
  std::size_t shards = 0;           ///< 0: as cut_into_shards chooses
  std::vector<std::string> sbatch;  ///< further options of sbatch, as they are
};

/// The name of a job of a fleet, and how its tasks recreate its work.
struct JobRequest {
  std::string results;  ///< the results folder: every host must see it
  std::string name;     ///< of the job's folder in it
  std::string kind;     ///< WorkKind
  Json work;            ///< what its maker needs
};

/// Does the missing items of a work: here, or as a Slurm job of one task for each shard, for which it waits, with
/// progress. A job that is still in Slurm's queue is waited for, not submitted again; and what tasks had finished
/// before is taken over. Slurm itself starts tasks of lost nodes again.
///
/// Each result is handed over once: here as soon as it is there, of a job at its end, in the order of the items, even
/// if it then throws. Returns false if a signal ended it early. Throws UsageError if the job is refused, or a node does
/// not see the folder: then the job's folder is removed again, unless it holds results. Throws MachineError if a shard
/// failed.
bool run(const Work& work, const std::set<std::string>& missing, const Place& place, const JobRequest& request,
         const OnResult& on_result);

/// One task of a job: what is missing of a shard. `folder`: the job's. Returns as run does. Throws UsageError for a
/// damaged folder, or an allocator of another version than the plan's.
bool run_shard(const std::string& folder, std::size_t shard);

}  // namespace zerotax::fleet
