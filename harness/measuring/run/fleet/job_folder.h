#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "os/unique_fd.h"
#include "run/fleet/fleet.h"
#include "run/fleet/hosts.h"

namespace zerotax::fleet {

/// What every task of a job reads before it does anything: the object of "zerotax.fleet/1" (fleet.schema.json).
struct JobPlan {
  std::string kind;   ///< of the work
  std::string token;  ///< says that a task sees this very folder; also in the job's name
  bool timed = false;
  Shards shards;
  Json work;  ///< what the kind's WorkMaker needs
  std::string schema = "zerotax.fleet/1";
};

/// What an item came to: a line of results (shard_result.schema.json).
struct ItemResult {
  std::string key;  ///< the item's
  std::string host;
  Json result;
  std::optional<Load> load;  ///< under which its task has measured until then; nothing where no times are taken
};

/// RESULTS/fleet/NAME: the files by which the tasks of a job and the command that waits for them speak with each other.
/// All hosts must see it. fleet.json, token and task.sh are written before the tasks start; log-SHARD.txt by Slurm;
/// results-SHARD-ATTEMPT.jsonl by the tasks, one line for each finished item. Every start of a task has a file of its
/// own: a node that Slurm takes for lost may still be writing.
class JobFolder {
 public:
  /// `results`: the results folder, or the one that is to become it. Nothing is made yet.
  JobFolder(const std::string& results, const std::string& name);
  /// One that exists: RESULTS/fleet/NAME.
  explicit JobFolder(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// RESULTS/fleet/hosts.
  [[nodiscard]] std::string hosts() const;
  [[nodiscard]] std::string log(std::size_t shard) const;

  /// Nothing if there is none yet. Throws UsageError for a damaged one.
  [[nodiscard]] std::optional<JobPlan> read_plan() const;
  /// Makes the folder. Throws UsageError if it cannot.
  void create(const JobPlan& plan);
  /// Removes the folder, and of those above it what is then empty; the results folder only if create made it.
  void remove() const;

  /// The results that were added since the last call, by key; of a key that has several, the first.
  std::map<std::string, ItemResult> new_results();

  /// Of what new_results has read: under which load each host took times; of its tasks, the worst. Empty if none were.
  [[nodiscard]] std::map<std::string, Load> loads() const;

  /// A new file of results of a shard, to append to.
  [[nodiscard]] UniqueFd start_results(std::size_t shard) const;
  /// Appends a line, so that it is there whole or not at all. Throws UsageError if it cannot be written.
  static void add_result(int fd, const ItemResult& result);

 private:
  std::string path_;
  bool made_results_ = false;
  std::map<std::string, std::size_t> read_;                    ///< bytes of each file of results
  std::set<std::string> seen_;                                 ///< keys
  std::map<std::string, std::pair<std::string, Load>> loads_;  ///< host and load of each file of results, at its end
};

/// Enters this host and its environment in the folder of hosts. Returns its name there: host_name(), with a number
/// where one of that name but unlike this one was there before (it was given another kernel meanwhile).
std::string enter_host(const std::string& hosts);

/// Throws UsageError for a damaged one.
Hosts read_hosts(const std::string& hosts);

/// Measures the work's controls for a host that has none yet: twice, and what is not the same both times is n/a.
void measure_controls(const std::string& hosts, const std::string& host, const Work& work);

/// The controls of all hosts, each with its host. Throws UsageError for a damaged one.
std::vector<Point> read_controls(const std::string& hosts);

/// HOST.json: the object of "zerotax.host/1".
struct HostEntry {
  std::string schema = "zerotax.host/1";
  Environment environment;
};

void to_json(Json& json, const HostEntry& entry);
void from_json(const Json& json, HostEntry& entry);
void to_json(Json& json, const JobPlan& plan);
void from_json(const Json& json, JobPlan& plan);
void to_json(Json& json, const ItemResult& result);
void from_json(const Json& json, ItemResult& result);

/// A control that was measured twice on a host. What the two differ in becomes n/a.
Json control_json(const Point& one, const Point& other, const std::string& host);

}  // namespace zerotax::fleet
