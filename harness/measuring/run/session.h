#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "files/results.h"
#include "point/plan.h"
#include "run/fleet/fleet.h"

namespace zerotax {

/// A run from its plan to stored points, including warm-up of memory, progress and interruption.
class Session {
 public:
  /// `folder` is the results folder; without one, points are kept only in memory. `command` has the words of the
  /// command line.
  Session(Plan plan, std::optional<std::string> folder, std::vector<std::string> command);

  /// Resumes an interrupted run with the plan in its folder, and measures the missing points.
  static Session resume(const std::string& folder, std::vector<std::string> command);

  /// Continues in the folder of an earlier run with the same plan, or else creates the folder. An interrupted run with
  /// --on slurm is thus resumed by the same command line.
  static Session begin_or_resume(Plan plan, const std::string& folder, std::vector<std::string> command);

  /// Measures on this host or on Slurm. Slurm requires a folder. Returns the number of the signal that ended the run
  /// early, or 0. Finished points are stored even after a signal. Calls `on_point` with each stored point. Throws the
  /// same errors as fleet::run(), and then removes the folder if this run created it and it is still empty.
  int run(const fleet::Place& place = {}, const std::function<void(const Point& point)>& on_point = {});

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const std::vector<Point>& points() const;
  /// The results folder; nullptr if there is none.
  [[nodiscard]] const ResultsFolder* folder() const { return folder_ ? &*folder_ : nullptr; }
  /// Load during the measurement; empty before the measurement.
  [[nodiscard]] const std::optional<Load>& load() const { return header_.load; }
  /// Returns the whole run, including its points, as one object.
  [[nodiscard]] Json json() const;

 private:
  explicit Session(const std::string& folder);
  /// `here` is this host's name in a folder of a fleet if the host measured points, and otherwise empty.
  void finish(bool complete, const std::string& here);
  void add_hosts(const std::string& here);
  void add(Point point, const std::string& host);

  Plan plan_;
  RunHeader header_;
  UniqueFd lock_;  ///< lock of the folder, taken before the folder is read
  std::optional<ResultsFolder> folder_;
  std::vector<Point> points_;
  bool is_new_ = false;  ///< whether this object created the folder
};

}  // namespace zerotax
