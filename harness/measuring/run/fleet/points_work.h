#pragma once

#include "point/plan.h"
#include "run/fleet/fleet.h"
#include "run/point_run.h"

namespace zerotax::fleet {

inline constexpr const char* kPointsKind = "points";

/// The points of a plan as work with JSON results.
class PointsWork : public Work {
 public:
  explicit PointsWork(const Plan& plan) : plan_(plan) {}

  [[nodiscard]] std::string title() const override { return "measuring"; }
  [[nodiscard]] std::vector<Item> items() const override { return items_of(plan_); }
  [[nodiscard]] bool is_timed() const override { return !plan_.audit_only; }
  [[nodiscard]] std::uint64_t memory_bytes() const override;
  [[nodiscard]] std::vector<Point> controls() const override;

 private:
  const Plan& plan_;
};

/// Returns the job for the plan.json of a results folder. The job's tasks read the same file.
JobRequest points_job(const std::string& results);

/// The WorkMaker of a job of points.
std::unique_ptr<Work> make_points_work(const Json& description, const std::string& file);

}  // namespace zerotax::fleet
