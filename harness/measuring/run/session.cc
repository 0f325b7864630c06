#include "run/session.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/error.h"
#include "files/document.h"
#include "files/output_file.h"
#include "files/stored_run.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/input_file.h"
#include "os/load.h"
#include "point/point_document.h"
#include "run/fleet/hosts.h"
#include "run/fleet/job_folder.h"
#include "run/fleet/points_work.h"
#include "run/interrupt.h"
#include "run/planning.h"

namespace zerotax {
namespace {

constexpr const char* kAnew =
    "measure again into a new folder: only an unchanged folder of this version can be resumed";

/// Returns the path of the folder in which a run keeps the hosts of a fleet. A run on one host does not create the
/// folder.
std::string hosts_of(const std::string& results) { return fleet::JobFolder(results, fleet::kPointsKind).hosts(); }

/// Returns the plan of a folder. First checks every file that will be read, because opening points.jsonl may change
/// that file.
Plan checked_plan(const std::string& folder) {
  const std::string file = folder + "/plan.json";
  const Json plan = read_document(file, "plan", kAnew);
  read_document(folder + "/run.json", "run", kAnew);
  const std::string points = folder + "/points.jsonl";
  if (is_there(points)) read_stored_points(points);
  fleet::read_hosts(hosts_of(folder));
  return plan_from_json(plan, file);
}

}  // namespace

Session::Session(Plan plan, std::optional<std::string> folder, std::vector<std::string> command)
    : plan_(std::move(plan)) {
  header_ = {"running", utc_now(), "", std::move(command), describe_environment()};
  if (folder) {
    folder_.emplace(*folder, plan_, header_);
    lock_ = lock_results(*folder);
  }
  is_new_ = folder.has_value();
}

Session::Session(const std::string& folder)
    : plan_(checked_plan(folder)), lock_(lock_results(folder)), folder_(folder) {
  const Json run = read_json_file(folder + "/run.json");
  header_ = {"running", text_field(run, "started", ""), "", {}, describe_environment()};
}

Session Session::resume(const std::string& folder, std::vector<std::string> command) {
  Session session(folder);
  session.header_.command = std::move(command);
  return session;
}

Session Session::begin_or_resume(Plan plan, const std::string& folder, std::vector<std::string> command) {
  const std::string file = folder + "/plan.json";
  const bool same = is_there(file) && read_document(file, "plan", kAnew) == plan_json(plan);
  return same ? resume(folder, std::move(command)) : Session(std::move(plan), folder, std::move(command));
}

const std::vector<Point>& Session::points() const { return folder_ ? folder_->points() : points_; }

void Session::add(Point point, const std::string& host) {
  if (!host.empty()) point.host = host;
  if (folder_) {
    folder_->add(point);
  } else {
    points_.push_back(std::move(point));
  }
}

void Session::add_hosts(const std::string& here) {
  fleet::JobFolder job(folder_->path(), fleet::kPointsKind);
  const fleet::Hosts hosts = fleet::read_hosts(job.hosts());
  if (hosts.empty()) return;
  job.new_results();
  std::map<std::string, Load> loads = job.loads();
  if (!here.empty() && header_.load) loads.insert_or_assign(here, *header_.load);
  header_.load = fleet::load_of_hosts(loads);
  header_.environments = hosts;
  header_.comparable_times = fleet::comparable_times(points(), hosts);
  if (!loads.empty()) header_.loads = loads;
  // A program that reads a single environment gets the environment of the first point.
  const std::string first = points().empty() ? "" : points().front().host.value_or("");
  if (hosts.contains(first)) header_.environment = hosts.at(first);
  std::string lines;
  for (const Point& control : fleet::read_controls(job.hosts())) lines += json_line(to_json(control)) + "\n";
  if (!lines.empty()) folder_->write("controls.jsonl", lines);
}

void Session::finish(bool complete, const std::string& here) {
  header_.state = complete ? "complete" : "interrupted";
  header_.finished = utc_now();
  if (!folder_) return;
  add_hosts(here);
  folder_->finish(plan_, header_);
}

int Session::run(const fleet::Place& place, const std::function<void(const Point& point)>& on_point) {
  std::set<std::string> missing;
  for (const PointSpec& point : plan_.points) missing.insert(point_key(plan_, point));
  if (folder_) {
    for (const std::string& key : folder_->finished_keys()) missing.erase(key);
  }
  const std::string path = folder_ ? folder_->path() : "";
  // In a folder of a fleet, points measured on this host also name their host.
  const bool in_fleet = folder_ && !place.slurm && is_there(hosts_of(path));
  const std::string here = in_fleet ? fleet::enter_host(hosts_of(path)) : "";
  const fleet::PointsWork work(plan_);
  const LoadReading start = read_load();
  try {
    const bool whole = fleet::run(work, missing, place, fleet::points_job(path),
                                  [&](const std::string& /*key*/, const Json& result, const std::string& host) {
                                    if (!host.empty()) check_document(result, "a result of " + host, "point", kAnew);
                                    const Point point = point_from_json(result);
                                    add(point, host.empty() ? here : host);
                                    if (on_point) on_point(point);
                                  });
    // The load of this host does not describe the nodes of a cluster.
    if (!place.slurm) header_.load = load_between(start, read_load());
    finish(whole, here);
    return whole ? 0 : interrupted();
  } catch (const Error&) {
    if (!place.slurm) throw;
    if (is_new_ && points().empty() && !is_there(path + "/fleet")) {
      folder_->discard();
    } else {
      finish(false, here);
    }
    throw;
  }
}

Json Session::json() const { return run_json(header_, plan_, points()); }

}  // namespace zerotax
