#include "core/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "core/document.h"
#include "core/interrupt.h"
#include "core/memory_guard.h"
#include "core/output_file.h"
#include "core/scheduler.h"
#include "core/stored_run.h"
#include "os/environment.h"
#include "os/input_file.h"
#include "os/load.h"

namespace zerotax {
namespace {

constexpr const char* kAnew =
    "measure again into a new folder: only a folder that this version wrote, and nothing changed, can be resumed";

/// Touches once what the largest points will use.
void warm_up_for(const Plan& plan) {
  std::uint64_t largest = 0;
  for (const PointSpec& point : plan.points) {
    if (why_too_large(memory_needed(point)).empty()) largest = std::max(largest, memory_needed(point));
  }
  warm_up(largest + largest / 4);
}

/// The plan of a folder, once all that is read of the folder is known to be sound: opening its points changes them.
Plan checked_plan(const std::string& folder) {
  const std::string file = folder + "/plan.json";
  const Json plan = read_document(file, "plan", kAnew);
  read_document(folder + "/run.json", "run", kAnew);
  const std::string points = folder + "/points.jsonl";
  if (is_there(points)) read_stored_points(points);
  return plan_from_json(plan, file);
}

}  // namespace

Session::Session(Plan plan, std::optional<std::string> folder, std::vector<std::string> command)
    : plan_(std::move(plan)) {
  header_ = {"running", utc_now(), "", std::move(command), describe_environment()};
  if (folder) folder_.emplace(*folder, plan_, header_);
}

Session::Session(const std::string& folder) : plan_(checked_plan(folder)), folder_(folder) {
  const Json run = read_json_file(folder + "/run.json");
  header_ = {"running", text_field(run, "started", ""), "", {}, describe_environment()};
}

Session Session::resume(const std::string& folder, std::vector<std::string> command) {
  Session session(folder);
  session.header_.command = std::move(command);
  return session;
}

const std::vector<Json>& Session::points() const { return folder_ ? folder_->points() : points_; }

int Session::run() {
  RunHooks hooks;
  if (folder_) hooks.finished = folder_->finished_keys();
  hooks.stop = stop_requested;
  hooks.on_point = [this](const Json& point) {
    if (folder_) {
      folder_->add(point);
    } else {
      points_.push_back(point);
    }
  };
  const LoadReading start = read_load();
  if (hooks.finished.size() < plan_.points.size()) warm_up_for(plan_);
  const bool complete = !stop_requested() && run_plan(plan_, hooks);
  header_.state = complete ? "complete" : "interrupted";
  header_.finished = utc_now();
  header_.load = load_json(start, read_load());
  if (folder_) folder_->finish(plan_, header_);
  return complete ? 0 : interrupted();
}

Json Session::json() const {
  Json json = run_json(header_, plan_, points().size());
  json["points"] = points();
  return json;
}

}  // namespace zerotax
