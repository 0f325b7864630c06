#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "os/environment.h"
#include "os/load.h"
#include "os/unique_fd.h"
#include "run/fleet/fleet.h"
#include "run/fleet/hosts.h"

namespace zerotax::fleet {

struct JobPlan {
  RESULT("zerotax fleet",
         "A job of several hosts, in fleet/NAME/fleet.json of a results folder. Every task reads this file first.");
  SCHEMA_FIELD("zerotax.fleet/1");
  FIELD(std::string, kind, "Kind of the items: points of a plan, or lanes of a search for thresholds.");
  FIELD(std::string, token,
        "Content of the file `token` in the same folder, by which a task checks that it sees this folder. The token is "
        "part of the job's name.",
        form("^[0-9a-f]{16}$"));
  FIELD(bool, timed, "Whether times are measured, which requires an exclusive node for each task.");
  FIELD(Shards, shards, "Keys of each task's items.", with(R"({"maxItems": 500, "items": {
    "type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}})"));
  FIELD(Json, work, "Data from which a task recreates the work (WorkMaker). The keys depend on `kind`.",
        with(R"({"type": "object"})"));
  std::string schema = "zerotax.fleet/1";
};

struct ItemResult {
  RESULT("zerotax result of a shard",
         "An item finished by a task of a Slurm job, as one line of fleet/NAME/results-SHARD-ATTEMPT.jsonl in a "
         "results folder.");
  FIELD(std::string, key, "Key of the item, as in `shards` of fleet.json.");
  FIELD(std::string, host, "Host that measured the item, as in the file HOST.json of fleet/hosts.");
  FIELD(Json, result,
        "Result of the item. Its form depends on the kind of work: a point (point.schema.json), the search of a "
        "lane (thresholds.schema.json), or a version of a history.",
        with(R"({"type": "object"})"));
  FIELD(std::optional<Load>, load, "Load during the task's measurements so far. Absent if no times are measured.",
        as_in("run.schema.json#/$defs/load"));
};

/// The folder RESULTS/fleet/NAME, through which the tasks of a job and the waiting command communicate. All hosts must
/// see the folder. fleet.json, token and task.sh are written before the tasks start. Slurm writes log-SHARD.txt. The
/// tasks write results-SHARD-ATTEMPT.jsonl, with one line for each finished item. Each start of a task has a separate
/// file, because a node that Slurm considers lost may still be writing.
class JobFolder {
 public:
  /// `results` is the results folder, or the path at which it will be created. The constructor creates no folder.
  JobFolder(const std::string& results, const std::string& name);
  /// Opens an existing folder RESULTS/fleet/NAME.
  explicit JobFolder(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Returns the path RESULTS/fleet/hosts.
  [[nodiscard]] std::string hosts() const;
  [[nodiscard]] std::string log(std::size_t shard) const;

  /// Returns the plan, or nothing if there is none yet. Throws UsageError if the plan is damaged.
  [[nodiscard]] std::optional<JobPlan> read_plan() const;
  /// Creates the folder. Throws UsageError if that fails.
  void create(const JobPlan& plan);
  /// Removes the folder, and parent folders that are then empty. The results folder is removed only if create() made
  /// it.
  void remove() const;

  /// Returns the results added since the last call, by key. The first result of a key counts.
  std::map<std::string, ItemResult> new_results();

  /// Returns the load under which each host measured times, as read by new_results(). If a host ran several tasks, the
  /// worst load counts. The result is empty if no times were measured.
  [[nodiscard]] std::map<std::string, Load> loads() const;

  /// Creates a new file of results for a shard, to which lines can be appended.
  [[nodiscard]] UniqueFd start_results(std::size_t shard) const;
  /// Appends a line, completely or not at all. Throws UsageError if the line cannot be written.
  static void add_result(int fd, const ItemResult& result);

 private:
  std::string path_;
  bool made_results_ = false;
  std::map<std::string, std::size_t> read_;                    ///< number of bytes read from each result file
  std::set<std::string> seen_;                                 ///< keys of the results read so far
  std::map<std::string, std::pair<std::string, Load>> loads_;  ///< host and last load of each result file
};

/// Adds this host and its environment to the folder of hosts. Returns the host's name in the folder, which is
/// host_name(). A number is appended if a different host, for example with another kernel, had this name before.
std::string enter_host(const std::string& hosts);

/// Returns the hosts in the folder. Throws UsageError if a file is damaged.
Hosts read_hosts(const std::string& hosts);

/// Measures the work's controls on a host that has none yet. Each control is measured twice, and metrics that differ
/// become n/a.
void measure_controls(const std::string& hosts, const std::string& host, const Work& work);

/// Returns the controls of all hosts, each with its host. Throws UsageError if a file is damaged.
std::vector<Point> read_controls(const std::string& hosts);

struct HostEntry {
  RESULT("zerotax host",
         "A host of a fleet, in fleet/hosts/HOST.json of a results folder. The host's first task writes this "
         "file.");
  SCHEMA_FIELD("zerotax.host/1");
  std::string schema = "zerotax.host/1";
  FIELD(Environment, environment, "Machine and kernel of the host.");
};

/// Returns a control that a host measured twice. Metrics that differ become n/a.
Json control_json(const Point& one, const Point& other, const std::string& host);

}  // namespace zerotax::fleet
