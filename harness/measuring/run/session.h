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

/// One run from plan to stored points, with everything around it: warming up memory, progress, interruption.
class Session {
 public:
  /// `folder`: where to store; empty keeps the points in memory only. `command`: the words of the command line.
  Session(Plan plan, std::optional<std::string> folder, std::vector<std::string> command);

  /// Resumes an interrupted run: its own plan, and what is missing of it.
  static Session resume(const std::string& folder, std::vector<std::string> command);

  /// As --on slurm needs it: continues in a folder that an earlier run of the same plan has begun, so that the same
  /// command line can be given again; else makes the folder.
  static Session begin_or_resume(Plan plan, const std::string& folder, std::vector<std::string> command);

  /// Measures, here or on Slurm, which needs a folder. Returns the number of the signal that ended it early, or 0.
  /// Finished points are stored either way. `on_point` is called with each point when it is stored. Throws as
  /// fleet::run; a folder that was made for this and is still empty is then removed.
  int run(const fleet::Place& place = {}, const std::function<void(const Point& point)>& on_point = {});

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const std::vector<Point>& points() const;
  /// Nullptr without a folder.
  [[nodiscard]] const ResultsFolder* folder() const { return folder_ ? &*folder_ : nullptr; }
  /// Under which load it was measured; nothing before it was.
  [[nodiscard]] const std::optional<Load>& load() const { return header_.load; }
  /// The whole run in one object, points included.
  [[nodiscard]] Json json() const;

 private:
  explicit Session(const std::string& folder);
  /// `here`: what this host is called in a folder of a fleet, if something was measured here; else empty.
  void finish(bool complete, const std::string& here);
  void add_hosts(const std::string& here);
  void add(Point point, const std::string& host);

  Plan plan_;
  RunHeader header_;
  UniqueFd lock_;  ///< of the folder: taken before the folder is read
  std::optional<ResultsFolder> folder_;
  std::vector<Point> points_;
  bool is_new_ = false;  ///< the folder was made by this object
};

}  // namespace zerotax
