#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "os/environment.h"
#include "os/load.h"
#include "os/unique_fd.h"
#include "point/plan.h"
#include "point/typed_point.h"

namespace zerotax {

struct ComparableTimes {
  RESULT("comparable times",
         "The hosts whose times may be compared with each other: alike hosts, with the same kernel, CPU model, setting "
         "of transparent huge pages and page size.");
  FIELD(std::vector<std::string>, hosts, "The largest group of alike hosts: the group that measured the most points.");
  MEMBER(left_out,
         "The other hosts, each with its differences. The times of these hosts are in the points, but in no figure and "
         "no finding.");
  std::map<std::string, std::string> left_out;
};

/// The description of a run, apart from its plan and points.
struct RunHeader {
  std::string state;  ///< "running", "complete" or "interrupted"
  std::string started;
  std::string finished;  ///< empty while the run is in progress
  std::vector<std::string> command;
  Environment environment;
  std::optional<Load> load = {};  ///< load during the measurement; no value while the run is in progress
  // Only for a run on several hosts: values by the host's name.
  std::optional<std::map<std::string, Environment>> environments = {};
  std::optional<ComparableTimes> comparable_times = {};
  std::optional<std::map<std::string, Load>> loads = {};
};

struct PlanEntry {
  RESULT("plan", "The plan of the run.");
  FIELD(std::size_t, points_planned, "Number of points that the run is to measure.");
  FIELD(std::size_t, points_finished, "Number of points measured so far, whatever their status.");
  FIELD(OrNull<std::string>, study, "The study; null if the points were chosen by hand.", one_of("quick|full"));
};

/// A separate type, because schemas of other documents refer to the properties of this schema.
struct RunEnvironment : Environment {
  static constexpr bool kInline = true;
  RESULT("environment");
  BASE_FIELDS(Environment);
};

struct RunDocument {
  static constexpr Limit kTime = form(R"(^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$)");
  static constexpr const char* kMore = R"({
    "oneOf": [{"required": ["points"]}, {"required": ["points_file"]}],
    "if": {"properties": {"state": {"const": "complete"}}},
    "then": {"properties": {"finished": {"type": "string"}}}
  })";

  RESULT("zerotax run",
         "A run of zerotax: run.json of a results folder (with `points_file`), or a file of zerotax run --json (with "
         "`points`).");
  SCHEMA_FIELD("zerotax.run/1");
  std::string schema;
  VERSION_FIELD();
  std::string zerotax_version;
  FIELD(std::string, state, "State of the run: measuring, complete, or stopped early.",
        one_of("running|complete|interrupted"));
  FIELD(std::string, started, "When the run began, in UTC.", kTime);
  FIELD(OrNull<std::string>, finished, "When the run ended, in UTC; null if it has not ended, or was killed.", kTime);
  FIELD(std::vector<std::string>, command, "The command line, verbatim.", least_items(1), kMayBeEmpty);
  FIELD(RunEnvironment, environment, "The machine and kernel. Any field may be {\"na\": \"why\"}.");
  FIELD(std::optional<Load>, load, "The load during the run.");
  MEMBER(environments,
         "For a run on several hosts: the environment of each host, by the host's name. In this case, `environment` "
         "describes the host of the first point.",
         with(R"({"propertyNames": {"type": "string", "minLength": 1}})"));
  std::optional<std::map<std::string, Environment>> environments;
  FIELD(std::optional<ComparableTimes>, comparable_times,
        "For a run on several hosts: the hosts whose times may be compared with each other.");
  MEMBER(loads,
         "For a run on several hosts that measured times: the load of each host, which is the highest load of the "
         "host's tasks. In this case, `load` describes the host with the highest load.",
         with(R"({"propertyNames": {"type": "string", "minLength": 1}})"));
  std::optional<std::map<std::string, Load>> loads;
  FIELD(std::vector<AllocatorEntry>, allocators, "The allocators and configurations that were measured.");
  FIELD(PlanEntry, plan, "The plan of the run.");
  FIELD(std::optional<std::vector<Json>>, points,
        "The points, in the order in which they were measured; present instead of `points_file`.",
        with(R"({"items": {"$ref": "point.schema.json"}})"));
  FIELD(std::optional<std::string>, points_file,
        "Name of the file in the same folder that has one point per line; present instead of `points`.",
        with(R"({"pattern": "^[^/]+$", "not": {"enum": [".", ".."]}})"));
};

/// The file beside run.json that contains the run's points.
inline constexpr const char* kPointsFile = "points.jsonl";

/// The first overload returns run.json, whose points are in kPointsFile. The second overload returns a run together
/// with its points.
Json run_json(const RunHeader& header, const Plan& plan, std::size_t finished);
Json run_json(const RunHeader& header, const Plan& plan, const std::vector<Point>& points);

/// A results folder: plan.json, run.json, points.jsonl and points.csv. points.jsonl has one line per finished point.
/// The line is on disk as soon as the point is finished, so finished points survive any failure.
class ResultsFolder {
 public:
  /// Creates the folder with its plan and a run.json of state "running". Throws UsageError if that fails, or if the
  /// folder already contains files.
  ResultsFolder(std::string path, const Plan& plan, const RunHeader& header);

  /// Opens a folder to resume its run. The caller must hold the folder's lock. Drops a last line that a kill cut short.
  /// Throws UsageError if the folder has the schema of another version.
  explicit ResultsFolder(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  [[nodiscard]] std::set<std::string> finished_keys() const;

  /// Appends a finished point. Throws UsageError if the point could not be stored (disk full), or if the folder was
  /// deleted or moved during the run.
  void add(const Point& point);

  /// Writes run.json and points.csv.
  void finish(const Plan& plan, const RunHeader& header);

  /// Removes the files that the constructor created, for a run that could not start.
  void discard();

  /// Writes another file into the folder.
  void write(const std::string& name, const std::string& text) const;

 private:
  [[noreturn]] void refuse_used() const;
  void open_points(int flags);
  void check_still_there() const;

  std::string path_;
  bool made_ = false;  ///< whether this object created the folder
  UniqueFd points_fd_;
  std::vector<Point> points_;
};

/// Locks a folder as long as the returned descriptor is open, because two commands that measure into it would write
/// each point twice. Throws UsageError, which names the command that holds the lock.
UniqueFd lock_results(const std::string& folder);

/// The folder results/<time> for a run that starts now.
std::string default_results_path();

inline constexpr const char* kRunSchema = "zerotax.run/1";

/// The fields that are read from a run's document after the document was checked against its schema.
struct RunParts {
  Json environment;
  std::optional<std::map<std::string, Json>> environments;
  std::optional<ComparableTimes> comparable_times;
  std::optional<std::vector<Json>> points;  ///< no value if the points are in points_file
  std::optional<std::string> points_file;
};

void from_json(const Json& json, RunParts& run);

}  // namespace zerotax
