#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "point/typed_point.h"
#include "run/experiment.h"

namespace zerotax::fleet {

/// Work whose items are independent of each other: the points of a plan, the lanes of a search. Any host can do any of
/// them, and each hands over its result as JSON.
class Work {
 public:
  virtual ~Work() = default;
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// For progress: "measuring".
  [[nodiscard]] virtual std::string title() const = 0;
  /// All of them, in the order of a run on one host, with keys, groups and results.
  [[nodiscard]] virtual std::vector<Item> items() const = 0;
  /// Whether times are taken: then nothing else may run on the host.
  [[nodiscard]] virtual bool is_timed() const = 0;
  /// Memory that an item needs at most, in bytes.
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
  /// CPUs that an item uses at a time, where no times are taken.
  [[nodiscard]] virtual unsigned cpus() const { return 1; }
  /// A few points, each with its deterministic metrics: measured once on every host, so that hosts that behave
  /// differently are found. Empty if the work has none. Throws Stop.
  [[nodiscard]] virtual std::vector<Point> controls() const { return {}; }
};

/// `host`: where it was done; empty: here.
using OnResult = std::function<void(const std::string& key, const Json& result, const std::string& host)>;

/// Where the items of a work are done.
class Executor {
 public:
  virtual ~Executor() = default;
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Does the missing items, with progress, and hands over each result once, from one thread at a time. Returns false
  /// if a signal ended it early.
  [[nodiscard]] virtual bool run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) = 0;
};

/// This host: results are handed over as soon as they are there.
class ThisHost : public Executor {
 public:
  /// `side_by_side`: audits at a time, at most; 0: as many as this host has CPUs.
  explicit ThisHost(std::size_t side_by_side = 0) : side_by_side_(side_by_side) {}
  bool run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) override;

 private:
  std::size_t side_by_side_;
};

/// Recreates a work in a task, from its description in fleet.json. `file`: for messages. Throws UsageError.
using WorkMaker = std::unique_ptr<Work> (*)(const Json& description, const std::string& file);

/// A kind of work, known to tasks by its name: one static object in the room that has it.
class WorkKind {
 public:
  WorkKind(const char* name, WorkMaker maker);
};

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

/// The keys of each shard's items.
using Shards = std::vector<std::vector<std::string>>;

/// More than this no array of jobs is cut into: Slurm's own limit is 1001 (MaxArraySize) unless it is raised.
inline constexpr std::size_t kMostShards = 500;

/// Cuts work into `count` shards of about the same expected time, or fewer if it has fewer groups. Groups stay whole:
/// what is compared is measured on one host. The longest group goes first, to the shard that has least (Graham 1969).
/// The same items and count always give the same shards. `count` 0: as many as take two minutes each, but at least 8.
Shards cut_into_shards(const std::vector<Item>& items, std::size_t count);

}  // namespace zerotax::fleet
