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

/// Work whose items do not depend on each other: the points of a plan, or the lanes of a search. Any host can measure
/// any item, and each item has a JSON result.
class Work {
 public:
  virtual ~Work() = default;
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// The activity shown in progress, as in "measuring".
  [[nodiscard]] virtual std::string title() const = 0;
  /// Returns all items in the order of a run on one host, with keys, groups and results.
  [[nodiscard]] virtual std::vector<Item> items() const = 0;
  /// Returns whether times are measured, so that nothing else may run on the host.
  [[nodiscard]] virtual bool is_timed() const = 0;
  /// Returns the maximum memory of an item in bytes.
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
  /// Returns the number of CPUs that an item uses at a time, if no times are measured.
  [[nodiscard]] virtual unsigned cpus() const { return 1; }
  /// Returns a few points with deterministic metrics, or nothing if the work has no such points. Every host measures
  /// these points once, to find hosts that behave differently. Throws Stop.
  [[nodiscard]] virtual std::vector<Point> controls() const { return {}; }
};

/// Called with a result. `host` is the host that measured the result; empty for this host.
using OnResult = std::function<void(const std::string& key, const Json& result, const std::string& host)>;

/// Measures the items of a work.
class Executor {
 public:
  virtual ~Executor() = default;
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Measures the missing items, with progress, and passes on each result once, from one thread at a time. Returns
  /// false if a signal ended the measurement early.
  [[nodiscard]] virtual bool run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) = 0;
};

/// Measures on this host, and passes on each result at once.
class ThisHost : public Executor {
 public:
  /// `side_by_side` is the maximum number of simultaneous audits; 0 for the number of CPUs.
  explicit ThisHost(std::size_t side_by_side = 0) : side_by_side_(side_by_side) {}
  bool run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) override;

 private:
  std::size_t side_by_side_;
};

/// Recreates a work in a task from its description in fleet.json. `file` is the path shown in messages. Throws
/// UsageError.
using WorkMaker = std::unique_ptr<Work> (*)(const Json& description, const std::string& file);

/// A kind of work, which tasks find by name. The room of each kind has one static object.
class WorkKind {
 public:
  WorkKind(const char* name, WorkMaker maker);
};

/// The place where the work is done: this host, or the tasks of a Slurm job.
struct Place {
  bool slurm = false;
  std::size_t shards = 0;           ///< number of shards; 0 if cut_into_shards() decides
  std::vector<std::string> sbatch;  ///< further options for sbatch, passed on unchanged
};

/// The name of a job of a fleet, and the data from which its tasks recreate the work.
struct JobRequest {
  std::string results;  ///< results folder, which every host must see
  std::string name;     ///< name of the job's folder in the results folder
  std::string kind;     ///< name of the WorkKind
  Json work;            ///< data for the kind's WorkMaker
};

/// Measures the missing items of a work, on this host or as a Slurm job with one task per shard. Waits for the job,
/// with progress. A job that is still in Slurm's queue is not submitted again, and results that its tasks have finished
/// are used. Slurm itself restarts tasks of lost nodes.
/// Each result is passed on once: results of this host immediately, and results of a job at its end, in the order of
/// the items. The results of a job are passed on even if an error follows. Returns false if a signal ended the work
/// early.
/// Throws UsageError if the job is refused, or if a node does not see the folder. The job's folder is then removed,
/// unless it has results. Throws MachineError if a shard failed.
bool run(const Work& work, const std::set<std::string>& missing, const Place& place, const JobRequest& request,
         const OnResult& on_result);

/// Runs one task of a job: measures the missing items of one shard. `folder` is the job's folder. Returns the same as
/// run(). Throws UsageError if the folder is damaged, or if an allocator's version differs from the plan's.
bool run_shard(const std::string& folder, std::size_t shard);

/// The keys of the items of each shard.
using Shards = std::vector<std::vector<std::string>>;

/// Maximum number of shards of a job. Slurm's own limit is 1001 by default (MaxArraySize).
inline constexpr std::size_t kMostShards = 500;

/// Cuts work into `count` shards of about the same expected time, or into fewer shards if the work has fewer groups.
/// With `count` 0, a shard takes about two minutes, but there are at least 8 shards. Groups are not divided, because
/// compared items must be measured on one host. Groups are assigned from longest to shortest, each to the shard with
/// the shortest time so far (Graham 1969). The same items and count always give the same shards.
Shards cut_into_shards(const std::vector<Item>& items, std::size_t count);

}  // namespace zerotax::fleet
