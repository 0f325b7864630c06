#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "os/environment.h"
#include "os/load.h"
#include "os/unique_fd.h"
#include "point/plan.h"
#include "point/typed_point.h"

namespace zerotax {

/// Which hosts' times may be compared with each other, and why not those of the others, by name.
struct ComparableTimes {
  std::vector<std::string> hosts;
  std::map<std::string, std::string> left_out;
};

/// A run as a whole: what "zerotax.run/1" (results/schema/run.schema.json) says beside its plan and points.
struct RunHeader {
  std::string state;  ///< "running", "complete" or "interrupted"
  std::string started;
  std::string finished;  ///< empty while it is running
  std::vector<std::string> command;
  Environment environment;
  std::optional<Load> load = {};  ///< under which it was measured; nothing while it is running
  // In a fleet, by host.
  std::optional<std::map<std::string, Environment>> environments = {};
  std::optional<ComparableTimes> comparable_times = {};
  std::optional<std::map<std::string, Load>> loads = {};
};

/// The file beside run.json that holds its points.
inline constexpr const char* kPointsFile = "points.jsonl";

/// The object of run.json, whose points are in kPointsFile; and that of a run with its points.
Json run_json(const RunHeader& header, const Plan& plan, std::size_t finished);
Json run_json(const RunHeader& header, const Plan& plan, const std::vector<Point>& points);

void from_json(const Json& json, ComparableTimes& comparable);

/// A results folder: plan.json, run.json, points.jsonl (one line per finished point, on disk as soon as it is
/// finished), points.csv. Whatever happens, the finished points are there and valid.
class ResultsFolder {
 public:
  /// Makes the folder, with its plan and a run.json of state "running". Throws UsageError if it cannot be made, or
  /// holds anything already.
  ResultsFolder(std::string path, const Plan& plan, const RunHeader& header);

  /// Opens a folder to resume its run, which must be locked. A last line that a kill cut short is dropped. Throws
  /// UsageError if the folder has another version's schema.
  explicit ResultsFolder(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  [[nodiscard]] std::set<std::string> finished_keys() const;

  /// Appends a finished point. Throws UsageError if it could not be stored (disk full), or the folder was deleted or
  /// moved meanwhile.
  void add(const Point& point);

  /// Writes run.json, and points.csv beside it.
  void finish(const Plan& plan, const RunHeader& header);

  /// Removes what the constructor made. For a run that could not begin.
  void discard();

  /// Writes a further file of the folder.
  void write(const std::string& name, const std::string& text) const;

 private:
  [[noreturn]] void refuse_used() const;
  void open_points(int flags);
  void check_still_there() const;

  std::string path_;
  bool made_ = false;  ///< the folder itself was made by this object
  UniqueFd points_fd_;
  std::vector<Point> points_;
};

/// Locks a folder as long as the result is open, because two commands that measure into it would write each point
/// twice. Throws UsageError naming the command that holds the lock.
UniqueFd lock_results(const std::string& folder);

/// A results/<time> folder name for a run that starts now.
std::string default_results_path();

inline constexpr const char* kRunSchema = "zerotax.run/1";

/// What is read of a run's document, which keeps to its schema.
struct RunParts {
  Json environment;
  std::optional<std::map<std::string, Json>> environments;
  std::optional<ComparableTimes> comparable_times;
  std::optional<std::vector<Json>> points;  ///< nothing: they are in points_file
  std::optional<std::string> points_file;
};

void from_json(const Json& json, RunParts& run);

}  // namespace zerotax
