#pragma once

#include "core/fleet/fleet.h"
#include "core/plan.h"

namespace zerotax::fleet {

inline constexpr const char* kPointsKind = "points";

/// The points of a plan, each with its result as point_json.
class PointsWork : public Work {
 public:
  explicit PointsWork(const Plan& plan) : plan_(plan) {}

  [[nodiscard]] std::vector<WorkItem> items() const override;
  [[nodiscard]] bool is_timed() const override { return !plan_.audit_only; }
  [[nodiscard]] std::uint64_t memory_bytes() const override;
  int run(const std::set<std::string>& keys, const WorkHooks& hooks) override;
  [[nodiscard]] std::vector<Json> controls() override;

 private:
  const Plan& plan_;
};

/// The job of a results folder's plan.json: its tasks read that very file.
JobRequest points_job(const std::string& results);

/// WorkMaker of such a job.
std::unique_ptr<Work> make_points_work(const Json& description, const std::string& file);

}  // namespace zerotax::fleet
